// Every table sorts by the column whose heading is pressed: numbers as numbers, the rest as words.
for (const table of document.querySelectorAll("table")) {
  const last = table.tHead ? [...table.tHead.rows].at(-1) : undefined;
  const heads = last ? [...last.cells] : [];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const text = (row) => row.cells[column].textContent.trim();
      // something may stand behind a number: 0.717 ±0.107, 84 %, 1,080 (1,060–1,100); in 7b-it it is no number
      const number = (row) => (/^[-−+]?[\d.,]*\d(e[-+]?\d+)?(?=$|[\s%±(–])/.test(text(row)) ? parseFloat(text(row).replace(/,/g, "").replace("−", "-")) : NaN);
      const rows = [...body.rows];
      const blank = (row) => ["", "–", "a tie"].includes(text(row));
      const numeric = rows.every((row) => blank(row) || !isNaN(number(row))) && !rows.every(blank);
      const compare = numeric
        ? (a, b) => (isNaN(number(a)) - isNaN(number(b))) || (up ? 1 : -1) * (number(a) - number(b))
        : (a, b) => (up ? 1 : -1) * text(a).localeCompare(text(b));
      rows.sort(compare).forEach((row) => body.append(row));
    });
  });
}
