
"use strict";
(function () {
  // What needs a script is made by it, so that nothing dead stands in the page without one.
  const collator = new Intl.Collator("en", { numeric: true });

  // Where a row stands in its column: by number where it has one, else by its words.
  function sorted(rows, column, direction) {
    const keyed = rows.map(function (row, place) {
      const cell = row.cells[column];
      const number = "sort" in cell.dataset ? Number(cell.dataset.sort) : null;
      return { row: row, place: place, number: number, words: cell.textContent.trim() };
    });
    const numbers = keyed.some(function (item) { return item.number !== null; });
    keyed.sort(function (one, other) {
      let order = 0;
      if (numbers) {
        // Rows without a number come last in both directions.
        if (one.number === null || other.number === null) {
          order = (one.number === null ? 1 : 0) - (other.number === null ? 1 : 0);
          return order || one.place - other.place;
        }
        order = one.number > other.number ? 1 : one.number === other.number ? 0 : -1;
      } else {
        order = collator.compare(one.words, other.words);
      }
      return order * direction || one.place - other.place;
    });
    return keyed.map(function (item) { return item.row; });
  }

  document.querySelectorAll("table.sortable").forEach(function (table) {
    const body = table.tBodies[0];
    const original = Array.from(body.rows);
    const headings = Array.from(table.tHead.rows[0].cells);
    headings.forEach(function (heading, column) {
      const words = heading.textContent.trim();
      const button = document.createElement("button");
      button.type = "button";
      function name(next) { button.setAttribute("aria-label", "Sort by " + words + ", " + next); }
      name("ascending");
      button.addEventListener("click", function () {
        const before = heading.getAttribute("aria-sort");
        headings.forEach(function (other) {
          other.removeAttribute("aria-sort");
        });
        table.dispatchEvent(new Event("sorted"));
        if (before === "ascending") {
          heading.setAttribute("aria-sort", "descending");
          body.append.apply(body, sorted(original, column, -1));
          name("original order");
        } else if (before === "descending") {
          body.append.apply(body, original);
        } else {
          heading.setAttribute("aria-sort", "ascending");
          body.append.apply(body, sorted(original, column, 1));
          name("descending");
        }
      });
      table.addEventListener("sorted", function () { name("ascending"); });
      // Beside words room for it is kept open by spaces that do not break, so that it never stands in a line of its own.
      heading.append(heading.classList.contains("number") ? "" : "\u00a0\u00a0\u00a0\u00a0", button);
    });
  });

  // A region that has nothing to scroll needs no stop for the keyboard.
  function stops() {
    document.querySelectorAll(".wide").forEach(function (region) {
      if (region.scrollWidth > region.clientWidth) {
        region.tabIndex = 0;
      } else {
        region.removeAttribute("tabindex");
      }
    });
  }
  stops();
  addEventListener("resize", stops);
  document.querySelectorAll("details").forEach(function (details) {
    details.addEventListener("toggle", stops);
  });

  // A link to what is folded opens it.
  function unfold() {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") { part.open = true; }
    }
  }
  addEventListener("hashchange", unfold);
  unfold();

  // The contents show where the reader is.
  const links = Array.from(document.querySelectorAll("nav a"));
  const seen = new Set();
  const watch = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      const id = entry.target.getAttribute("aria-labelledby");
      if (entry.isIntersecting) { seen.add(id); } else { seen.delete(id); }
    });
    const first = links.find(function (link) { return seen.has(link.hash.slice(1)); });
    links.forEach(function (link) {
      if (first) {
        if (link.hash === first.hash) { link.setAttribute("aria-current", "location"); } else { link.removeAttribute("aria-current"); }
      }
    });
  }, { rootMargin: "-10% 0px -70% 0px" });
  document.querySelectorAll("main section").forEach(function (section) { watch.observe(section); });

  // Paper shows what is folded on the screen.
  let opened = [];
  addEventListener("beforeprint", function () {
    opened = Array.from(document.querySelectorAll("main details:not([open])"));
    opened.forEach(function (details) { details.open = true; });
  });
  addEventListener("afterprint", function () {
    opened.forEach(function (details) { details.open = false; });
  });
}());
