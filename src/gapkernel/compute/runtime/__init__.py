"""Memory, threads and progress."""
