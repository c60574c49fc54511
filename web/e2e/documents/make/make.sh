#!/bin/sh
# Makes the documents, and what LibreOffice shows of them: texts, and small pictures of their pages.
#
# Needs LibreOffice (writer, calc, impress), poppler-utils, the fonts Liberation and DejaVu, and Python and Node with the
# libraries that office.py and libraries.cjs name.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$here/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
office() { soffice --headless "-env:UserInstallation=file://$work/profile" "$@" >/dev/null 2>&1; }
# A document in another form, made by LibreOffice: source, name without its ending, ending.
again() {
  mkdir -p "$work/again"
  cp "$1" "$work/$2.${1##*.}"
  office --convert-to "$3" --outdir "$work/again" "$work/$2.${1##*.}"
  mv "$work/again/$2.$3" "$out/libreoffice-$2.$3"
}

if [ "${1:-all}" = all ]; then
  python3 "$here/office.py" "$out"
  node "$here/libraries.cjs" "$out"
  again "$here/thesis.fodt" thesis docx
  again "$here/thesis.fodt" thesis pdf
  again "$here/sums.fods" sums xlsx
  again "$out/python-letter.docx" letter docx
  again "$out/python-dashboard.xlsx" dashboard xlsx
  again "$out/python-shapes.pptx" shapes pptx
  again "$out/python-deck.pptx" deck pdf
fi

mkdir -p "$out/seen"
for file in "$out"/*.docx "$out"/*.xlsx "$out"/*.pptx "$out"/*.pdf; do
  name=$(basename "$file")
  case $name in
    *.pdf) cp "$file" "$work/$name.pdf" ;;
    *) cp "$file" "$work/$name"; office --convert-to pdf --outdir "$work" "$work/$name"; mv "$work/${name%.*}.pdf" "$work/$name.pdf" ;;
  esac
  pdftotext -layout "$work/$name.pdf" "$out/seen/$name.txt"
  # Pages beside one another, in few colours: a reader compares, a program does not.
  pdftoppm -r 40 -l 3 -png "$work/$name.pdf" "$work/page-$name"
  python3 "$here/beside.py" "$out/seen/$name.png" "$work/page-$name"*.png
done
