"""Views: several transforms of one image, in one call."""
