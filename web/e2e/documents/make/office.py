"""Makes the documents that python-pptx, python-docx and openpyxl write: `python office.py FOLDER`.

pip install python-pptx python-docx openpyxl pillow
"""
import datetime
import io
import sys

import docx
from docx.enum.section import WD_ORIENT
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_COLOR_INDEX
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor
from openpyxl import Workbook
from openpyxl import chart as charts
from openpyxl.drawing.image import Image as SheetImage
from openpyxl.formatting.rule import CellIsRule, ColorScaleRule, DataBarRule, FormulaRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.workbook.defined_name import DefinedName
from PIL import Image, ImageDraw
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor as Ink
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.enum.text import PP_ALIGN
from pptx.util import Inches
from pptx.util import Pt as SlidePt

FOLDER = sys.argv[1]


def picture(width=160, height=100):
    """A flag of four colours with a circle: crops, flips and turns can be seen."""
    image = Image.new("RGB", (width, height), "#0b6a5b")
    draw = ImageDraw.Draw(image)
    draw.rectangle((width // 2, 0, width, height // 2), fill="#f2b233")
    draw.rectangle((0, height // 2, width // 2, height), fill="#1d5a9e")
    draw.ellipse((10, 10, 40, 40), fill="#ae2a1f")
    data = io.BytesIO()
    image.save(data, "PNG")
    data.seek(0)
    return data


def element(name, **attributes):
    made = OxmlElement(name)
    for key, value in attributes.items():
        made.set(qn(f"w:{key}"), value)
    return made


def field(paragraph, code, shown):
    for kind, text in (("begin", None), (None, code), ("separate", None), ("shown", shown), ("end", None)):
        run = paragraph.add_run()
        if kind is None:
            instruction = element("w:instrText")
            instruction.text = text
            run._r.append(instruction)
        elif kind == "shown":
            run.text = text
        else:
            run._r.append(element("w:fldChar", fldCharType=kind))


def shade(cell, colour):
    cell._tc.get_or_add_tcPr().append(element("w:shd", val="clear", color="auto", fill=colour))


def report_docx():
    paper = docx.Document()
    section = paper.sections[0]
    section.header.paragraphs[0].text = "Harbour office\tQuarterly report\tInternal"
    foot = section.footer.paragraphs[0]
    foot.add_run("Page ")
    field(foot, "PAGE", "1")
    paper.add_heading("Ferry report, third quarter", 0)
    paper.add_heading("1  Summary", 1)
    text = paper.add_paragraph("Two routes were ")
    text.add_run("over 90 %").bold = True
    text.add_run(" in July, and one was ")
    text.add_run("cancelled").font.strike = True
    text.add_run(" moved. See H")
    low = text.add_run("2")
    low.font.subscript = True
    text.add_run("O and m")
    high = text.add_run("3")
    high.font.superscript = True
    marked = text.add_run(" marked words")
    marked.font.highlight_color = WD_COLOR_INDEX.YELLOW
    red = text.add_run(" in red.")
    red.font.color.rgb = RGBColor(0xAE, 0x2A, 0x1F)
    for style, words in (("List Bullet", "Routes"), ("List Bullet 2", "Norrvik–Sandö"), ("List Bullet 3", "Night boat"), ("List Bullet 2", "Holm"), ("List Bullet", "Crew"), ("List Number", "Charter a boat"), ("List Number", "Train the crew"), ("List Number", "Open in July")):
        paper.add_paragraph(words, style=style)
    paper.add_picture(picture(), width=Cm(6))
    paper.add_paragraph("Figure 1: the new flag", style="Caption")
    table = paper.add_table(rows=5, cols=4, style="Light Grid Accent 1")
    for column, words in enumerate(("Route", "Passengers", "Load", "Note")):
        table.cell(0, column).text = words
    for row, cells in enumerate((("Norrvik–Sandö", "12,400", "99 %", "over"), ("Holm", "8,150", "71 %", "stable"), ("Kråkö", "3,020", "45 %", "closed in winter")), 1):
        for column, words in enumerate(cells):
            table.cell(row, column).text = words
    table.cell(4, 0).merge(table.cell(4, 1)).text = "Total of all routes"
    table.cell(4, 2).merge(table.cell(4, 3)).text = "23,570 passengers"
    table.cell(1, 3).merge(table.cell(2, 3)).text = "over, then stable"
    shade(table.cell(1, 2), "F2B233")
    paper.add_page_break()
    paper.add_heading("2  Method", 1)
    paper.add_paragraph("Counts were taken by hand.", style="Intense Quote")
    wide = paper.add_section()
    wide.orientation = WD_ORIENT.LANDSCAPE
    wide.page_width, wide.page_height = wide.page_height, wide.page_width
    paper.add_heading("3  Landscape table", 1)
    months = paper.add_table(rows=3, cols=12, style="Medium Shading 1 Accent 2")
    for column in range(12):
        months.cell(0, column).text = datetime.date(2025, column + 1, 1).strftime("%b")
        months.cell(1, column).text = str(90 + column * 7)
        months.cell(2, column).text = str(400 - column * 11)
    paper.save(f"{FOLDER}/python-report.docx")


def letter_docx():
    paper = docx.Document()
    paper.styles["Normal"].font.name = "Liberation Serif"
    paper.styles["Normal"].font.size = Pt(12)
    right = paper.add_paragraph("Norrvik, 3 March 2025")
    right.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    paper.add_paragraph("Dear Ms Öberg,").paragraph_format.space_after = Pt(18)
    body = paper.add_paragraph("We thank you for your letter. " * 6)
    body.alignment = WD_ALIGN_PARAGRAPH.JUSTIFY
    body.paragraph_format.first_line_indent = Cm(1)
    for words in ("مرحبا بالعالم، هذه فقرة بالعربية.", "שלום עולם, זו פסקה בעברית."):
        arabic = paper.add_paragraph()
        arabic._p.get_or_add_pPr().append(element("w:bidi"))
        run = arabic.add_run(words)
        run._r.get_or_add_rPr().append(element("w:rtl"))
    tabs = paper.add_paragraph("Item\tAmount\tSum")
    tabs.paragraph_format.tab_stops.add_tab_stop(Cm(6))
    tabs.paragraph_format.tab_stops.add_tab_stop(Cm(12))
    link = element("w:hyperlink")
    link.set(qn("r:id"), paper.part.relate_to("https://example.org/rates", docx.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run = element("w:r")
    words = element("w:t")
    words.text = "Our rates on the web"
    run.append(words)
    link.append(run)
    paper.add_paragraph("See: ")._p.append(link)
    boxed = paper.add_paragraph("A paragraph with a border and a ground.")
    properties = boxed._p.get_or_add_pPr()
    edges = element("w:pBdr")
    for side in ("top", "left", "bottom", "right"):
        edges.append(element(f"w:{side}", val="single", sz="8", space="4", color="1D5A9E"))
    properties.append(edges)
    properties.append(element("w:shd", val="clear", color="auto", fill="E8F1FA"))
    nested = paper.add_table(rows=1, cols=2, style="Table Grid")
    nested.cell(0, 0).text = "Outer left"
    inner = nested.cell(0, 1).add_table(rows=2, cols=2)
    inner.style = "Table Grid"
    for n, words in enumerate(("in 1", "in 2", "in 3", "in 4")):
        inner.cell(n // 2, n % 2).text = words
    paper.add_paragraph("Yours sincerely").paragraph_format.space_before = Pt(24)
    columns = paper.add_section(docx.enum.section.WD_SECTION.CONTINUOUS)
    columns._sectPr.append(element("w:cols", num="2", space="708"))
    paper.add_paragraph("Text in two columns goes on in the second when the first is full. " * 5)
    paper.save(f"{FOLDER}/python-letter.docx")


def budget_xlsx():
    book = Workbook()
    sheet = book.active
    sheet.title = "Orders"
    sheet.append(["Order", "Customer", "Region", "Date", "Units", "Price", "Amount", "Discount", "Net"])
    customers = ["Alvik", "Berg", "Alvik", "Dahl", "Berg", "Ek", "Alvik", "Dahl"]
    for n, customer in enumerate(customers, 2):
        sheet.append([f"A-{n:03}", customer, f"=VLOOKUP(B{n},Customers!A$2:C$6,2,FALSE)", datetime.date(2025, n, 3 * n), n * 3, 12.5 + n, f"=E{n}*F{n}", f'=IF(G{n}>=200,10%,IF(G{n}>=100,5%,0))', f"=ROUND(G{n}*(1-H{n}),2)"])
        for column, code in (("D", "d mmm yyyy"), ("F", "#,##0.00 [$€-407]"), ("G", "#,##0.00"), ("H", "0%"), ("I", '#,##0.00;[Red]-#,##0.00')):
            sheet[f"{column}{n}"].number_format = code
    customer_sheet = book.create_sheet("Customers")
    for row in (("Name", "Region", "Credit"), ("Alvik", "North", 1000), ("Berg", "South", 250), ("Dahl", "North", -75.5), ("Ek", "West", 0), ("Falk", "South", None)):
        customer_sheet.append(row)
    book.defined_names["Net"] = DefinedName("Net", attr_text="Orders!$I$2:$I$9")
    total = book.create_sheet("Summary")
    formulas = [
        ("Total net", "=SUM(Orders!I2:I9)", "#,##0.00"), ("By name", "=SUM(Net)", "#,##0.00"), ("North", '=SUMIFS(Orders!I2:I9,Orders!C2:C9,"North")', "#,##0.00"),
        ("North, large", '=SUMIFS(Orders!I:I,Orders!C:C,"North",Orders!E:E,">10")', "#,##0.00"), ("Orders of Alvik", '=COUNTIFS(Orders!B2:B9,"Alvik",Orders!E2:E9,">=6")', "0"),
        ("Customers", "=COUNTA(Customers!A2:A6)", "0"), ("Without credit", "=COUNTBLANK(Customers!C2:C6)", "0"), ("Largest", "=MAX(Orders!G2:G9)", "0.00"), ("Smallest", "=MIN(Orders!G2:G9)", "0.00"),
        ("Middle", "=MEDIAN(Orders!E2:E9)", "0.0"), ("Spread", "=STDEV(Orders!E2:E9)", "0.000"), ("Average North", '=AVERAGEIFS(Orders!I2:I9,Orders!C2:C9,"North")', "0.00"),
        ("Place of Dahl", '=MATCH("Dahl",Customers!A2:A6,0)', "0"), ("Credit by place", '=INDEX(Customers!C2:C6,MATCH("Berg",Customers!A2:A6,0))', "0"), ("Missing", '=IFERROR(VLOOKUP("Zorn",Customers!A2:C6,2,FALSE),"none")', None),
        ("Not found", '=VLOOKUP("Zorn",Customers!A2:C6,2,FALSE)', None), ("Text", '=TEXT(B2,"#,##0.00")&" EUR"', None), ("Day", '=TEXT(Orders!D2,"yyyy-mm-dd")', None), ("Month end", "=EOMONTH(Orders!D2,0)", "yyyy-mm-dd"),
        ("Next month", "=EDATE(Orders!D2,1)", "d mmmm yyyy"), ("Weekday", '=TEXT(Orders!D2,"dddd")', None), ("Days", "=Orders!D9-Orders!D2", "0"), ("Products", "=SUMPRODUCT(Orders!E2:E9,Orders!F2:F9)", "0.00"),
        ("North by array", '=SUMPRODUCT((Orders!C2:C9="North")*Orders!E2:E9)', "0"), ("Rank", "=RANK(Orders!G5,Orders!G2:G9)", "0"), ("Second", "=LARGE(Orders!G2:G9,2)", "0.00"), ("Payment", "=PMT(5%/12,60,-10000)", "0.00"),
        ("Joined", '=TEXTJOIN(", ",TRUE,Customers!A2:A4)', None), ("Upper", '=UPPER(LEFT(Customers!A2,3))&LOWER("XYZ")', None), ("Choice", '=CHOOSE(2,"one","two","three")', None), ("Subtotal", "=SUBTOTAL(9,Orders!E2:E9)", "0"), ("Fraction", "=0.375", "# ?/?"), ("Science", "=123456.789", "0.00E+00"),
    ]
    total.append(["What", "Value"])
    for n, (name, formula, code) in enumerate(formulas, 2):
        total.append([name, formula])
        if code:
            total[f"B{n}"].number_format = code
    total.column_dimensions["A"].width, total.column_dimensions["B"].width = 20, 18
    for one in book:
        for cell in one[1]:
            cell.font = Font(bold=True)
    book.save(f"{FOLDER}/python-budget.xlsx")


def dashboard_xlsx():
    book = Workbook()
    sheet = book.active
    sheet.title = "Data"
    sheet.append(["Month", "North", "South", "East", "Share"])
    for n in range(1, 9):
        sheet.append([datetime.date(2025, n, 1), n * 11 % 37 + 5, n * 7 % 23 + 9, 40 - n * 3, n / 10])
        sheet[f"A{n + 1}"].number_format = "mmm yy"
        sheet[f"E{n + 1}"].number_format = "0%"
    sheet.conditional_formatting.add("B2:B9", ColorScaleRule(start_type="min", start_color="F8696B", mid_type="percentile", mid_value=50, mid_color="FFEB84", end_type="max", end_color="63BE7B"))
    sheet.conditional_formatting.add("C2:C9", CellIsRule(operator="greaterThan", formula=["20"], font=Font(color="9C0006", bold=True), fill=PatternFill(bgColor="FFC7CE", fill_type="solid")))
    sheet.conditional_formatting.add("D2:D9", FormulaRule(formula=["MOD(ROW(),2)=0"], fill=PatternFill(bgColor="DDEBF7", fill_type="solid")))
    sheet.conditional_formatting.add("E2:E9", DataBarRule(start_type="num", start_value=0, end_type="num", end_value=1, color="1D5A9E"))
    sheet.add_image(SheetImage(picture(120, 76)), "G2")
    names = charts.Reference(sheet, min_col=1, min_row=2, max_row=9)
    data = charts.Reference(sheet, min_col=2, max_col=4, min_row=1, max_row=9)
    one = charts.Reference(sheet, min_col=2, min_row=1, max_row=9)
    board = book.create_sheet("Board")
    for at, (kind, title) in enumerate(((charts.BarChart, "Columns"), (charts.LineChart, "Lines"), (charts.PieChart, "Pie"), (charts.AreaChart, "Area"), (charts.DoughnutChart, "Ring"), (charts.RadarChart, "Radar"))):
        made = kind()
        made.title, made.width, made.height = title, 11, 6.5
        made.add_data(one if kind in (charts.PieChart, charts.DoughnutChart) else data, titles_from_data=True)
        made.set_categories(names)
        board.add_chart(made, f"{get_column_letter(1 + at % 2 * 7)}{1 + at // 2 * 14}")
    scatter = charts.ScatterChart()
    scatter.title, scatter.width, scatter.height = "Scatter", 11, 6.5
    series = charts.Series(charts.Reference(sheet, min_col=3, min_row=2, max_row=9), charts.Reference(sheet, min_col=2, min_row=2, max_row=9), title="South by North")
    series.marker.symbol, series.graphicalProperties.line.noFill = "circle", True
    scatter.series.append(series)
    board.add_chart(scatter, "A43")
    book.save(f"{FOLDER}/python-dashboard.xlsx")


def layout_xlsx():
    book = Workbook()
    sheet = book.active
    sheet.title = "Rota"
    thin, thick = Side(style="thin", color="808080"), Side(style="thick", color="1D5A9E")
    sheet["A1"] = "Crew rota"
    sheet.merge_cells("A1:G1")
    sheet["A1"].font, sheet["A1"].alignment = Font(size=18, bold=True, color="FFFFFF"), Alignment(horizontal="center", vertical="center")
    sheet["A1"].fill = PatternFill("solid", fgColor="1D5A9E")
    sheet.row_dimensions[1].height = 36
    for n, name in enumerate(("Name", "Monday", "Tuesday", "Hidden", "Wednesday", "Thursday", "Notes"), 1):
        cell = sheet.cell(2, n, name)
        cell.alignment = Alignment(text_rotation=60 if 1 < n < 7 else 0, horizontal="center", vertical="bottom")
        cell.border = Border(bottom=thick)
    for n, name in enumerate(("Anna", "Björn", "Cecilia", "David"), 3):
        for column, text in enumerate((name, "early", "late", "secret", "free", "early" if n % 2 else "late", "Has the keys to the boat house and the shed; ask first"), 1):
            cell = sheet.cell(n, column, text)
            cell.border = Border(left=thin, right=thin, top=thin, bottom=thin)
        sheet.cell(n, 7).alignment = Alignment(wrap_text=True, vertical="top")
        sheet.cell(n, 1).alignment = Alignment(indent=n - 3)
    sheet.merge_cells("B3:C4")
    sheet["B3"] = "Training for both"
    sheet["B3"].alignment = Alignment(horizontal="center", vertical="center", wrap_text=True)
    sheet["B3"].fill = PatternFill("solid", fgColor="FCE4D6")
    sheet.column_dimensions["D"].hidden = True
    sheet.row_dimensions[6].hidden = True
    sheet.column_dimensions["G"].width = 28
    sheet["A8"] = "A long text that runs on over the empty cells to its right"
    sheet["A9"], sheet["B9"] = "A long text that is cut by", "its neighbour"
    sheet["A10"], sheet["B10"] = 12345678901234, True
    sheet["A11"] = datetime.datetime(2025, 3, 9, 14, 30)
    sheet["A11"].number_format = "yyyy-mm-dd hh:mm"
    sheet["A12"] = datetime.timedelta(hours=27, minutes=5)
    sheet["A12"].number_format = "[h]:mm"
    sheet["A13"], sheet["A13"].number_format = -1234.5, '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)'
    sheet["A14"] = "Struck"
    sheet["A14"].font = Font(strike=True, italic=True, underline="single", name="DejaVu Serif")
    sheet["A15"] = "=HYPERLINK(\"https://example.org\",\"A link\")"
    sheet.column_dimensions["A"].width = 19
    sheet.freeze_panes = "B3"
    hidden = book.create_sheet("Wages")
    hidden["A1"] = "hidden sheet"
    hidden.sheet_state = "hidden"
    eastern = book.create_sheet("عربي")
    eastern.sheet_view.rightToLeft = True
    for row in (("الاسم", "المدينة", "العدد"), ("أحمد", "القاهرة", 12), ("ليلى", "بيروت", 7)):
        eastern.append(row)
    book.save(f"{FOLDER}/python-layout.xlsx")


def deck_pptx():
    show = Presentation()
    show.slide_width, show.slide_height = Inches(13.333), Inches(7.5)
    first = show.slides.add_slide(show.slide_layouts[0])
    first.shapes.title.text, first.placeholders[1].text = "Summer ferries", "A plan for 2025\nHarbour office"
    first.notes_slide.notes_text_frame.text = "Welcome everybody.\nSay thanks to the crew."
    points = show.slides.add_slide(show.slide_layouts[1])
    points.shapes.title.text = "What we know"
    frame = points.placeholders[1].text_frame
    for n, (level, words) in enumerate(((0, "Two routes are full"), (1, "Norrvik–Sandö at 99 %"), (2, "also at night"), (1, "Holm in July"), (0, "The crew is short"))):
        paragraph = frame.paragraphs[0] if n == 0 else frame.add_paragraph()
        paragraph.text, paragraph.level = words, level
    table_slide = show.slides.add_slide(show.slide_layouts[5])
    table_slide.shapes.title.text = "Prices"
    table = table_slide.shapes.add_table(5, 4, Inches(1), Inches(1.8), Inches(11.3), Inches(3.5)).table
    rows = (("Route", "Adult", "Child", "Note"), ("Norrvik", "12 €", "6 €", "all year"), ("Holm", "9 €", "4 €", "summer"), ("Kråkö", "15 €", "7 €", "on request"), ("All routes", "30 €", "15 €", "day ticket"))
    for row, cells in enumerate(rows):
        for column, words in enumerate(cells):
            table.cell(row, column).text = words
    table.cell(1, 3).merge(table.cell(2, 3))
    table.cell(1, 3).text = "merged over two rows"
    table.cell(4, 1).merge(table.cell(4, 2))
    table.cell(4, 1).text = "45 € together"
    table.cell(3, 0).fill.solid()
    table.cell(3, 0).fill.fore_color.rgb = Ink(0xF2, 0xB2, 0x33)
    pictures = show.slides.add_slide(show.slide_layouts[6])
    pictures.shapes.add_picture(picture(), Inches(1), Inches(1), Inches(4))
    cropped = pictures.shapes.add_picture(picture(), Inches(6), Inches(1), Inches(3), Inches(2.5))
    cropped.crop_left, cropped.crop_bottom = 0.5, 0.5
    turned = pictures.shapes.add_picture(picture(), Inches(9.5), Inches(3.5), Inches(3))
    turned.rotation = 30
    note = pictures.shapes.add_textbox(Inches(1), Inches(5), Inches(3), Inches(0.6))
    note.text_frame.text = "A text box without wrapping that is longer than its frame"
    chart_slide = show.slides.add_slide(show.slide_layouts[5])
    chart_slide.shapes.title.text = "Passengers"
    data = CategoryChartData()
    data.categories = ["May", "June", "July"]
    data.add_series("Norrvik", (310, 420, 515))
    data.add_series("Holm", (120, 180, 260))
    made = chart_slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1.6), Inches(7), Inches(5), data).chart
    made.has_legend = True
    aside = chart_slide.shapes.add_textbox(Inches(8.5), Inches(2), Inches(4), Inches(3))
    aside.text_frame.word_wrap = True
    for n, (words, size) in enumerate((("July is the best month", 28), ("more than May and June of the year before", 16))):
        paragraph = aside.text_frame.paragraphs[0] if n == 0 else aside.text_frame.add_paragraph()
        paragraph.text, paragraph.font.size, paragraph.space_after = words, SlidePt(size), SlidePt(12)
        paragraph.alignment = PP_ALIGN.CENTER
    show.save(f"{FOLDER}/python-deck.pptx")


def shapes_pptx():
    show = Presentation()
    show.slide_width, show.slide_height = Inches(13.333), Inches(7.5)
    flow = show.slides.add_slide(show.slide_layouts[6])
    boxes = []
    for n, (kind, words) in enumerate(((MSO_SHAPE.ROUNDED_RECTANGLE, "Load"), (MSO_SHAPE.DIAMOND, "Full?"), (MSO_SHAPE.OVAL, "Sail"), (MSO_SHAPE.CAN, "Log"))):
        box = flow.shapes.add_shape(kind, Inches(0.6 + n * 3.2), Inches(0.6 if n % 2 == 0 else 1.8), Inches(2.2), Inches(1.4))
        box.text_frame.text = words
        boxes.append(box)
    for n, kind in enumerate((MSO_CONNECTOR.STRAIGHT, MSO_CONNECTOR.ELBOW, MSO_CONNECTOR.CURVE)):
        line = flow.shapes.add_connector(kind, 0, 0, 0, 0)
        line.begin_connect(boxes[n], 3)
        line.end_connect(boxes[n + 1], 1)
        line.line.width, line.line.color.rgb = SlidePt(2.5), Ink(0xAE, 0x2A, 0x1F)
    kinds = (MSO_SHAPE.RIGHT_ARROW, MSO_SHAPE.LEFT_ARROW, MSO_SHAPE.UP_ARROW, MSO_SHAPE.DOWN_ARROW, MSO_SHAPE.LEFT_RIGHT_ARROW, MSO_SHAPE.PENTAGON, MSO_SHAPE.CHEVRON, MSO_SHAPE.HEXAGON, MSO_SHAPE.OCTAGON, MSO_SHAPE.STAR_5_POINT, MSO_SHAPE.HEART, MSO_SHAPE.CLOUD, MSO_SHAPE.CROSS, MSO_SHAPE.PARALLELOGRAM, MSO_SHAPE.TRAPEZOID, MSO_SHAPE.RIGHT_TRIANGLE, MSO_SHAPE.RECTANGULAR_CALLOUT, MSO_SHAPE.DONUT, MSO_SHAPE.LIGHTNING_BOLT, MSO_SHAPE.FLOWCHART_DOCUMENT, MSO_SHAPE.ISOSCELES_TRIANGLE, MSO_SHAPE.REGULAR_PENTAGON, MSO_SHAPE.BLOCK_ARC, MSO_SHAPE.LEFT_BRACE)
    for n, kind in enumerate(kinds):
        shape = flow.shapes.add_shape(kind, Inches(0.5 + n % 8 * 1.6), Inches(3.8 + n // 8 * 1.2), Inches(1.3), Inches(0.95))
        shape.text_frame.text = str(n + 1)
    paints = show.slides.add_slide(show.slide_layouts[6])
    ground = paints.background.fill
    ground.gradient()
    ground.gradient_angle = 90
    ground.gradient_stops[0].color.rgb, ground.gradient_stops[1].color.rgb = Ink(0xE8, 0xF1, 0xFA), Ink(0xFF, 0xFF, 0xFF)
    mixed = paints.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(0.6), Inches(0.6), Inches(4), Inches(1.6))
    mixed.fill.gradient()
    mixed.fill.gradient_angle = 0
    mixed.fill.gradient_stops[0].color.rgb, mixed.fill.gradient_stops[1].color.rgb = Ink(0x0B, 0x6A, 0x5B), Ink(0xF2, 0xB2, 0x33)
    mixed.text_frame.text = "A gradient from left to right"
    turned = paints.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(6), Inches(0.8), Inches(3), Inches(1))
    turned.rotation, turned.text_frame.text = 315, "Turned by −45°"
    free = paints.shapes.build_freeform(Inches(10), Inches(2.4), scale=1.0)
    free.add_line_segments([(Inches(11.2), Inches(0.5)), (Inches(12.6), Inches(2.4)), (Inches(11.3), Inches(1.8))])
    shape = free.convert_to_shape()
    shape.fill.solid()
    shape.fill.fore_color.theme_color = MSO_THEME_COLOR.ACCENT_2
    group = paints.shapes.add_group_shape()
    for n, words in enumerate(("In", "a", "group")):
        member = group.shapes.add_shape(MSO_SHAPE.OVAL, Inches(1 + n * 2), Inches(3.2), Inches(1.6), Inches(1.2))
        member.text_frame.text = words
    group.left, group.top, group.width, group.height = Inches(0.8), Inches(3), Inches(9), Inches(2)
    group.rotation = 10
    dashed = paints.shapes.add_connector(MSO_CONNECTOR.STRAIGHT, Inches(1), Inches(6.5), Inches(12), Inches(5.8))
    dashed.line.width = SlidePt(4)
    dashed.line.dash_style = 4
    clear = paints.shapes.add_textbox(Inches(10), Inches(3), Inches(3), Inches(1))
    clear.text_frame.text = "plain "
    run = clear.text_frame.paragraphs[0].add_run()
    run.text = "linked words"
    run.hyperlink.address = "https://example.org"
    show.save(f"{FOLDER}/python-shapes.pptx")


for make in (report_docx, letter_docx, budget_xlsx, dashboard_xlsx, layout_xlsx, deck_pptx, shapes_pptx):
    make()
