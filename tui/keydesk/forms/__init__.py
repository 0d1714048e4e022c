"""The forms: each says at its top what it will do and at its bottom what sends it; they send nothing."""
