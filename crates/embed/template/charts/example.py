"""Draws example.png beside this file."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plot  # noqa: E402

months = ["Jan", "Feb", "Mar", "Apr"]
plot.figure(figsize=(6, 4))
plot.bar(months, [3, 5, 4, 7])
plot.title("An example")
plot.savefig(Path(__file__).with_name("example.png"))
