"""Methods that look into a pipeline: explain(), profile(), check() and show()."""
