"""rbdae side by side with others on the same mechanisms, in one run: `python -m benchmarks.peers --help`."""
