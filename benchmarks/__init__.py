"""Measurements, each as a ratio against peers in one run."""
