"""What is read and compared, and never on the path of a run: dense equations, other algorithms, operation counts."""
