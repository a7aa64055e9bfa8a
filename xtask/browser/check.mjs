// Opens a page in a real browser, as a file, and checks what only a browser knows.
//
// node check.mjs CHROMIUM PAGE FOLDER
//
// Screenshots and a print go into the folder. Exit code 1 if something is wrong, 2 if it cannot be tried.

import { mkdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const [program, file, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node check.mjs CHROMIUM PAGE FOLDER");
  process.exit(2);
}
const url = pathToFileURL(path.resolve(file)).href;

const faults = [];
let checks = 0;

/** Notes each fault once, with the view in which it was seen first. */
function report(view, found) {
  checks += 1;
  for (const fault of found) {
    if (!faults.some((known) => known.fault === fault)) {
      faults.push({ view, fault });
    }
  }
}

/** Opens the page and hands it over; whatever it asks for or complains of meanwhile is a fault. */
async function visit(browser, view, options, inspect) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const heard = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      heard.push(`the console says: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => heard.push(`the script fails: ${error.message}`));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url && request.url() !== "about:blank") {
      heard.push(`it asks for ${request.url().slice(0, 120)}`);
    }
  });
  await page.goto(url, { waitUntil: "load" });
  await inspect(page);
  report(view, heard);
  await context.close();
}

/** The page itself never scrolls sideways; what is wide scrolls within a region of its own. */
const sideways = () => {
  const root = document.scrollingElement;
  const found = [];
  if (root.scrollWidth > root.clientWidth) {
    const widest = [...document.body.querySelectorAll("*")]
      .filter((element) => !element.parentElement.closest(".wide"))
      .filter((element) => element.getBoundingClientRect().right > root.clientWidth + 0.5)
      .map((element) => `${element.tagName.toLowerCase()}.${element.className}`);
    found.push(`it is ${root.scrollWidth} px wide in ${root.clientWidth} px: ${widest.slice(0, 4).join(", ")}`);
  }
  for (const element of document.body.querySelectorAll("*")) {
    const style = getComputedStyle(element);
    if (element.closest("svg") || style.visibility === "hidden" || element.clientWidth === 0) {
      continue;
    }
    const hides = ["hidden", "clip"].includes(style.overflowX) || ["hidden", "clip"].includes(style.overflowY);
    if (hides && (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1)) {
      found.push(`text is cut off in ${element.tagName.toLowerCase()}: ${element.textContent.trim().slice(0, 60)}`);
    }
  }
  for (const region of document.querySelectorAll(".wide")) {
    if (region.scrollWidth > region.clientWidth && region.tabIndex !== 0) {
      found.push("a region that scrolls cannot be reached by keyboard");
    }
  }
  return found;
};

/** Text in tables and in lines of names does not run into its neighbour. */
const neighbours = () => {
  const found = [];
  for (const cell of document.querySelectorAll("th, td, dt, dd, li, summary, h1, h2, h3, h4, h5, h6, p, figcaption, caption")) {
    if (cell.offsetParent === null) {
      continue;
    }
    const box = cell.getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(cell);
    for (const text of range.getClientRects()) {
      if (text.width > 0 && (text.right > box.right + 1.5 || text.left < box.left - 1.5) && !cell.querySelector(".wide")) {
        found.push(`text leaves its ${cell.tagName.toLowerCase()}: ${cell.textContent.trim().slice(0, 60)}`);
        break;
      }
    }
  }
  return found;
};

/** Texts of a picture neither overlap each other nor leave the picture, and are large enough to be read. */
const pictures = () => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) {
      continue;
    }
    const name = svg.closest("figure")?.id ?? "svg";
    const scale = frame.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].map((text) => {
      const box = text.getBoundingClientRect();
      return { words: text.textContent.trim(), box, size: parseFloat(getComputedStyle(text).fontSize) * scale };
    });
    for (const { words, box, size } of texts) {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
        found.push(`${name}: "${words}" leaves the picture`);
      }
      if (size < 9) {
        found.push(`${name}: "${words}" is only ${size.toFixed(1)} px high`);
      }
    }
    for (let one = 0; one < texts.length; one += 1) {
      for (let other = one + 1; other < texts.length; other += 1) {
        const [a, b] = [texts[one].box, texts[other].box];
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // Boxes reach above capitals and below the line, where nothing is drawn.
        const empty = 0.2 * Math.min(a.height, b.height, a.width, b.width);
        if (across > 1 && down > empty && across > empty) {
          found.push(`${name}: "${texts[one].words}" and "${texts[other].words}" overlap`);
        }
      }
    }
  }
  return found;
};

/** Every text stands out from what is behind it by as much as the guidelines ask (WCAG 2.2, level AA). */
const contrast = () => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => {
    const linear = rgba(colour).slice(0, 3).map((channel) => {
      const part = channel / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ratio = (one, other) => {
    const [a, b] = [luminance(one), luminance(other)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const behind = (element) => {
    for (let part = element; part; part = part.parentElement) {
      const colour = getComputedStyle(part).backgroundColor;
      if (rgba(colour)[3] === 255) {
        return colour;
      }
    }
    return "white";
  };
  const found = [];
  const judge = (words, colour, ground, size, weight) => {
    const large = size >= 24 || (size >= 18.66 && weight >= 700);
    const reached = ratio(colour, ground);
    if (reached < (large ? 3 : 4.5)) {
      found.push(`contrast of only ${reached.toFixed(2)} (${colour} on ${ground}): ${words.slice(0, 60)}`);
    }
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest("svg, script, style") || element.offsetParent === null) {
      continue;
    }
    const style = getComputedStyle(element);
    judge(node.textContent.trim(), style.color, behind(element), parseFloat(style.fontSize), Number(style.fontWeight));
  }
  for (const button of document.querySelectorAll("button")) {
    const style = getComputedStyle(button, "::before");
    judge("button", style.color, behind(button), parseFloat(style.fontSize), Number(style.fontWeight));
  }
  for (const svg of document.querySelectorAll("svg")) {
    // What is drawn later lies above.
    const drawn = [...svg.querySelectorAll("rect, circle, text")];
    const boxes = drawn.map((element) => element.getBoundingClientRect());
    drawn.forEach((element, place) => {
      if (element.tagName !== "text" || boxes[place].width === 0) {
        return;
      }
      const x = (boxes[place].left + boxes[place].right) / 2;
      const y = (boxes[place].top + boxes[place].bottom) / 2;
      let ground = behind(svg.parentElement);
      for (let below = 0; below < place; below += 1) {
        const [other, box] = [drawn[below], boxes[below]];
        const fill = getComputedStyle(other).fill;
        const covers = box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
        if (other.tagName !== "text" && fill !== "none" && covers) {
          ground = fill;
        }
      }
      const style = getComputedStyle(element);
      judge(element.textContent.trim(), style.fill, ground, parseFloat(style.fontSize), Number(style.fontWeight));
    });
  }
  return found;
};

/** The order of headings, names that links need, landmarks, tables that say what they are. */
const structure = () => {
  const found = [];
  if (!document.documentElement.lang) {
    found.push("the page does not say its language");
  }
  const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map((heading) => Number(heading.tagName[1]));
  levels.forEach((level, place) => {
    if (level > (levels[place - 1] ?? 0) + 1) {
      found.push(`heading ${place + 1} skips a level`);
    }
  });
  if (levels.filter((level) => level === 1).length !== 1) {
    found.push("there is not exactly one main heading");
  }
  for (const landmark of ["main", "body > header", "body > footer"]) {
    if (document.querySelectorAll(landmark).length !== 1) {
      found.push(`there is not exactly one ${landmark}`);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  ids.filter((id, place) => ids.indexOf(id) !== place).forEach((id) => found.push(`the name ${id} is not unique`));
  for (const link of document.querySelectorAll("a[href^='#']")) {
    if (!document.getElementById(link.hash.slice(1))) {
      found.push(`the link ${link.hash} leads nowhere`);
    }
  }
  for (const table of document.querySelectorAll("table")) {
    const heads = [...table.querySelectorAll("th")];
    if (!table.caption || !heads.every((head) => head.scope)) {
      found.push("a table has no caption, or a head without scope");
    }
  }
  return found;
};

/** What assistive technology is told: each image, region, button and link has a name. */
async function names(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const roles = ["image", "img", "graphics-document", "region", "navigation", "button", "link", "table", "figure"];
  const need = roles.filter((role) => role !== "figure");
  return nodes
    .filter((node) => !node.ignored && need.includes(node.role?.value) && !node.name?.value?.trim())
    .map((node) => `something of the role ${node.role.value} has no name`);
}

/** Every line of the contents leads to a heading that can then be seen. */
async function contents(page, width) {
  const found = [];
  const nav = page.locator("nav:visible");
  if ((await nav.count()) !== 1) {
    return [`${await nav.count()} lists of contents can be seen at ${width} px`];
  }
  const folded = nav.locator("summary");
  const links = nav.locator("a");
  const targets = await links.evaluateAll((all) => all.map((link) => link.hash));
  const headings = await page.locator("main h2").evaluateAll((all) => all.map((heading) => `#${heading.id}`));
  if (targets.join(" ") !== headings.join(" ")) {
    found.push(`the contents list ${targets.join(" ")}, the headings are ${headings.join(" ")}`);
  }
  for (const [place, target] of targets.entries()) {
    if ((await folded.count()) && !(await nav.locator("details").evaluate((details) => details.open))) {
      await folded.focus();
      await page.keyboard.press("Enter");
    }
    await links.nth(place).focus();
    await page.keyboard.press("Enter");
    await page.waitForTimeout(50);
    const seen = await page.evaluate((hash) => {
      const heading = document.getElementById(hash.slice(1));
      const box = heading?.getBoundingClientRect();
      return heading !== null && location.hash === hash && /^H[1-6]$/.test(heading.tagName) && box.top >= -1 && box.bottom <= innerHeight + 1;
    }, target);
    if (!seen) {
      found.push(`the contents line ${target} does not lead to its heading`);
    }
  }
  return found;
}

/** The contents show which section is being read. */
async function current(page) {
  const found = [];
  const headings = page.locator("main section > h2");
  for (let place = 0; place < (await headings.count()); place += 1) {
    const id = await headings.nth(place).getAttribute("id");
    await headings.nth(place).evaluate((heading) => scrollTo({ top: heading.getBoundingClientRect().top + scrollY - 120, behavior: "instant" }));
    await page.waitForTimeout(120);
    const marked = await page.locator("nav:visible a[aria-current]").evaluateAll((all) => all.map((link) => link.hash));
    const atEnd = await page.evaluate(() => innerHeight + scrollY >= document.documentElement.scrollHeight - 2);
    if (marked.length !== 1 || (!atEnd && marked[0] !== `#${id}`)) {
      found.push(`while ${id} is read, the contents mark ${marked.join(" ") || "nothing"}`);
    }
  }
  return found;
}

/** Every column sorts both ways and back, by keyboard alone. */
async function sorting(page) {
  const found = [];
  const tables = page.locator("table:has(tbody tr + tr)");
  for (let number = 0; number < (await tables.count()); number += 1) {
    const table = tables.nth(number);
    const rows = () =>
      table.evaluate((element) =>
        [...element.tBodies[0].rows].map((row) => [...row.cells].map((cell) => ({ words: cell.textContent.trim(), sort: cell.dataset.sort ?? null }))),
      );
    const original = await rows();
    const buttons = table.locator("thead button");
    const columns = await table.locator("thead th").count();
    if ((await buttons.count()) !== columns) {
      found.push(`table ${number + 1} has ${await buttons.count()} buttons for ${columns} columns`);
      continue;
    }
    for (let column = 0; column < columns; column += 1) {
      const where = `table ${number + 1}, column ${column + 1}`;
      const keys = (all) => all.map((row) => row[column]);
      const numbers = original.some((row) => row[column].sort !== null);
      const inOrder = (all, sign) => {
        const cells = keys(all).filter((cell) => !numbers || cell.sort !== null);
        const tail = numbers ? keys(all).slice(cells.length).every((cell) => cell.sort === null) : true;
        const compare = (a, b) =>
          numbers ? Math.sign(Number(a.sort) - Number(b.sort)) || 0 : new Intl.Collator("en", { numeric: true }).compare(a.words, b.words);
        return tail && cells.every((cell, place) => place === 0 || sign * compare(cells[place - 1], cell) <= 0);
      };
      const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
      const state = () => table.locator("thead th").nth(column).getAttribute("aria-sort");
      await buttons.nth(column).focus();
      await page.keyboard.press("Enter");
      if ((await state()) !== "ascending" || !inOrder(await rows(), 1)) {
        found.push(`${where} does not sort upwards`);
      }
      await page.keyboard.press("Space");
      if ((await state()) !== "descending" || !inOrder(await rows(), -1)) {
        found.push(`${where} does not sort downwards`);
      }
      await page.keyboard.press("Enter");
      if ((await state()) !== null || !same(await rows(), original)) {
        found.push(`${where} does not go back to the first order`);
      }
    }
  }
  return found;
}

/** The tabulator goes through everything that can be used, in the order of reading, and shows where it is. */
async function tabulator(page) {
  const found = [];
  // Only a page that was just opened begins at its beginning.
  await page.goto("about:blank");
  await page.goto(url, { waitUntil: "load" });
  await unfold(page);
  await page.waitForTimeout(100);
  const expected = await page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, summary, [tabindex='0']")];
    const usable = all.filter((element) => element.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true }));
    usable.forEach((element, place) => element.setAttribute("data-stop", place));
    return usable.length;
  });
  const stops = [];
  for (let press = 0; press < expected + 1; press += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      return {
        place: element.dataset.stop === undefined ? null : Number(element.dataset.stop),
        shown: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
        what: `${element.tagName.toLowerCase()} ${element.textContent.trim().slice(0, 40)}`,
        skip: element.classList.contains("skip") && element.getBoundingClientRect().top >= 0,
      };
    });
    if (stop.place === null) {
      break;
    }
    stops.push(stop.place);
    if (!stop.shown) {
      found.push(`the focus cannot be seen on ${stop.what}`);
    }
    if (press === 0 && !stop.skip) {
      found.push("the first stop is no visible link that skips to the report");
    }
  }
  if (stops.length !== expected || !stops.every((stop, place) => stop === place)) {
    found.push(`the tabulator stops at ${stops.length} of ${expected} places, or not in the order of reading`);
  }
  return found;
}

/** On paper: no navigation, everything unfolded, nothing wider than the sheet. */
const paper = () => {
  const found = [];
  const width = document.documentElement.clientWidth;
  for (const element of document.querySelectorAll("nav, .skip, button")) {
    if (element.checkVisibility()) {
      found.push(`the print shows ${element.tagName.toLowerCase()}`);
    }
  }
  for (const details of document.querySelectorAll("main details")) {
    const last = details.lastElementChild;
    if (!last.checkVisibility({ contentVisibilityAuto: true }) || last.getBoundingClientRect().height === 0) {
      found.push("the print leaves folded what is folded");
    }
  }
  for (const element of document.querySelectorAll("table, svg, pre, p, dl")) {
    const box = element.getBoundingClientRect();
    if (element.checkVisibility() && box.right > width + 1) {
      found.push(`the print cuts off a ${element.tagName.toLowerCase()}: ${Math.round(box.right)} of ${width} px`);
    }
  }
  const background = getComputedStyle(document.documentElement).backgroundColor;
  if (background !== "rgb(255, 255, 255)") {
    found.push(`the print has the background ${background}`);
  }
  return found;
};

const unfold = (page) => page.locator("main details").evaluateAll((all) => all.forEach((details) => { details.open = true; }));

async function layout(page, view, width) {
  report(view, await page.evaluate(sideways));
  report(view, await page.evaluate(neighbours));
  report(view, await page.evaluate(pictures));
  report(view, await page.evaluate(contrast));
  report(view, await page.evaluate(structure));
  report(view, await names(page));
  report(view, await contents(page, width));
}

async function main() {
  await stat(file);
  await mkdir(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath: program, args: ARGUMENTS, headless: true });
  try {
    for (const width of [1280, 400]) {
      for (const colorScheme of ["light", "dark"]) {
        for (const javaScriptEnabled of [true, false]) {
          const view = `${width}-${colorScheme}${javaScriptEnabled ? "" : "-noscript"}`;
          const options = { viewport: { width, height: 900 }, colorScheme, javaScriptEnabled, reducedMotion: "reduce" };
          await visit(browser, view, options, async (page) => {
            await page.screenshot({ path: path.join(folder, `${view}.png`), fullPage: true });
            await unfold(page);
            await layout(page, view, width);
            if (javaScriptEnabled) {
              report(view, await sorting(page));
              report(view, await current(page));
            } else if (await page.locator("button").count()) {
              report(view, ["there are buttons that do nothing without scripts"]);
            }
            report(view, await tabulator(page));
            await page.goto("about:blank");
            await page.goto(url, { waitUntil: "load" });
            await unfold(page);
            await page.screenshot({ path: path.join(folder, `${view}-unfolded.png`), fullPage: true });
          });
        }
      }
    }
    // As narrow as the guidelines ask for.
    await visit(browser, "320", { viewport: { width: 320, height: 640 } }, async (page) => {
      await unfold(page);
      report("320", await page.evaluate(sideways));
    });
    for (const [colorScheme, javaScriptEnabled] of [["light", true], ["dark", false]]) {
      const view = `print-${colorScheme}${javaScriptEnabled ? "" : "-noscript"}`;
      // What is left of a sheet of A4 at 96 pixels per inch.
      const options = { viewport: { width: 688, height: 1000 }, colorScheme, javaScriptEnabled };
      await visit(browser, view, options, async (page) => {
        const pdf = await page.pdf({ format: "A4", printBackground: true, preferCSSPageSize: true });
        await writeFile(path.join(folder, `${view}.pdf`), pdf);
        if (pdf.subarray(0, 5).toString() !== "%PDF-" || pdf.length < 5000) {
          report(view, ["the print is no document"]);
        }
        await page.emulateMedia({ media: "print" });
        report(view, await page.evaluate(paper));
        await page.screenshot({ path: path.join(folder, `${view}.png`), fullPage: true });
      });
    }
  } finally {
    await browser.close();
  }
}

try {
  await main();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(2);
}
for (const { view, fault } of faults) {
  console.error(`${view}: ${fault}`);
}
if (faults.length) {
  console.error(`${faults.length} faults in ${file}; screenshots are in ${folder}`);
  process.exit(1);
}
console.log(`${checks} checks of ${file} passed; screenshots are in ${folder}`);
