"""Puts pictures beside one another in one small picture: `python beside.py OUT IN…`."""
import sys

from PIL import Image

pages = [Image.open(path).convert("RGB") for path in sys.argv[2:]]
whole = Image.new("RGB", (sum(page.width + 4 for page in pages), max(page.height for page in pages)), "#808080")
left = 0
for page in pages:
    whole.paste(page, (left, 0))
    left += page.width + 4
whole.quantize(32).save(sys.argv[1], optimize=True)
