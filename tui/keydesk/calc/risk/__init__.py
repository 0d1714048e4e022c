"""Size, margin, exposure, financing and closeout of an account."""
