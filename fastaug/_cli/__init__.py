"""The commands of python -m fastaug."""
