"""Running: compiled loops over steps, and what drives them chunk by chunk."""
