"""What the files of settings hold: values, and the pydantic models that read and check a file. A file that is not there loads no pydantic."""
