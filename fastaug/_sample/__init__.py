"""Samples: images with their masks, boxes and points, on their way through transforms of v2."""
