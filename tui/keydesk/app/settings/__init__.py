"""The page of settings, and the files of settings that change under a running desk."""
