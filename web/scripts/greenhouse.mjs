// A small greenhouse that sells its plants online: its files, and the tasks that agents have on it.

export const files = {
  "package.json": '{ "name": "greenhouse", "type": "module", "scripts": { "test": "node --test" } }\n',
  "src/beds.js": `// What grows where.
export const beds = [
  { bed: 1, plant: "tomato", price: 3.2 },
  { bed: 2, plant: "basil", price: 1.8 },
];

export function bedOf(plant) {
  return beds.find((each) => each.plant === plant)?.bed ?? null;
}
`,
  "src/basket.js": `// What a customer is about to buy.
export function total(lines) {
  let sum = 0;
  for (const line of lines) sum += line.price * line.count;
  return sum;
}
`,
  "src/hours.js": 'export const hours = "from dawn to dusk";\n',
  "src/watering.js": "export const litres = { tomato: 1.5, basil: 0.4 };\n",
  "test/beds.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { bedOf } from "../src/beds.js";

test("tomatoes are in the first bed", () => assert.equal(bedOf("tomato"), 1));
`,
};

const block = (lines) => `\n\n\`\`\`script\n${lines.join("\n")}\n\`\`\``;

/** A task: its title, what the agent is told and does, and what else is known of it. */
const task = (title, details, lines, more = {}) => ({ title, description: details + block(lines), ...more });

const works = (steps) => Array.from({ length: steps }, () => "work");
const quick = (file, text, steps = 3) => [
  ...works(steps),
  `write ${file}`,
  text,
  ".",
  "usage 8200 0.03",
  `say ${file} is written.`,
];

/** The first batch, which lands. */
export const first = [
  task(
    "List the beds by plant",
    "The shop needs them by name.",
    quick("src/plants.js", "export const plants = ['basil', 'tomato'];", 4),
    { labels: ["shop"], priority: "medium" },
  ),
  task("Count litres a day", "", quick("src/litres.js", "export const aDay = 1.9;", 6), {
    labels: ["watering"],
  }),
  task("Write down what frost does", "", quick("docs/frost.md", "# Frost\n\nBring the basil in.", 5), {
    labels: ["docs"],
    priority: "low",
  }),
  task("Welcome visitors on the first page", "", quick("docs/welcome.md", "Mind the hose."), {
    labels: ["docs"],
  }),
];

/** The second batch, of which one task fails. */
export const second = [
  task(
    "Ask the weather station for rain",
    "",
    [
      "run curl weather.local/rain",
      "curl: (6) Could not resolve host: weather.local",
      ".",
      "fail the weather station does not answer",
    ],
    { labels: ["watering"], priority: "high" },
  ),
  task("Sort the herb shelf", "", quick("docs/shelf.md", "Basil, mint, thyme."), { labels: ["shop"] }),
];

/** The transcript that is shown. */
const vat = task(
  "Add tax to the total of a basket",
  "Prices in `src/beds.js` are without tax. The total of a basket has to name the net sum, the tax of 7 %, and what is to be paid, each rounded to cents.",
  [
    "say I'll look at how the basket is summed up, then add the tax and cover the rounding with tests.",
    "plan Read the basket; Add net, tax and gross; Round to cents; Add tests",
    "read src/basket.js",
    "think Sums of floats drift: 3 × 1.8 is 5.4 only after rounding. Round once, at the end, and never in the loop.",
    "run rg -n 'total\\(' src",
    "src/basket.js:2:export function total(lines) {",
    "src/checkout.js:9:  const sum = total(basket.lines);",
    "src/receipt.js:14:  print(total(lines));",
    ".",
    "replace src/basket.js let sum = 0; => let net = 0;",
    "replace src/basket.js sum += line.price => net += line.price",
    "replace src/basket.js return sum; => return { net: cents(net), tax: cents(net * TAX), gross: cents(net * (1 + TAX)) };",
    "append src/basket.js const TAX = 0.07;",
    "append src/basket.js const cents = (sum) => Math.round(sum * 100) / 100;",
    "say The three callers expect a number. I'll let them use `gross`.",
    "flunk node --test",
    "✖ a basket of three basils costs 5.78",
    "  AssertionError: 5.77 !== 5.78",
    "ℹ pass 11",
    "ℹ fail 1",
    ".",
    "think 5.4 × 1.07 is 5.778: the test is right, and the expected value in my head was cut, not rounded.",
    "write test/basket.test.js",
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    'import { total } from "../src/basket.js";',
    "",
    'test("a basket of three basils costs 5.78", () => {',
    "  assert.deepEqual(total([{ price: 1.8, count: 3 }]), { net: 5.4, tax: 0.38, gross: 5.78 });",
    "});",
    ".",
    "run node --test",
    "ℹ tests 12",
    "ℹ pass 12",
    "ℹ fail 0",
    ".",
    "usage 41300 0.18",
    "say All twelve tests pass. Now the receipt has to name the three sums.",
    "wait end",
    "say Done.",
  ],
  { labels: ["shop", "money"], priority: "critical" },
);

/** The batch that runs while it is looked at. */
export const running = [
  task(
    "Open the greenhouse at night",
    "",
    [
      ...works(4),
      "replace src/hours.js from dawn to dusk => all night",
      "usage 9100 0.04",
      "say It is open all night.",
    ],
    { labels: ["hours"] },
  ),
  task(
    "Open on Sundays",
    "",
    [
      ...works(9),
      "replace src/hours.js from dawn to dusk => on Sundays, too",
      "usage 11800 0.05",
      "say It is open on Sundays.",
    ],
    { labels: ["hours"], priority: "high" },
  ),
  vat,
  task(
    "Plant mint in a third bed",
    "",
    [
      ...works(6),
      'replace src/beds.js price: 1.8 }, => price: 1.8 }, { bed: 3, plant: "mint", price: 2.1 },',
      "append src/beds.js // Mint spreads.",
      "usage 7400 0.03",
      "say Mint is in bed 3.",
    ],
    { labels: ["beds"] },
  ),
  task(
    "Water the mint twice a day",
    "It follows the third bed.",
    [
      ...works(3),
      "say looking at the third bed",
      "read src/watering.js",
      "replace src/watering.js basil: 0.4 => basil: 0.4, mint: 0.8",
      "say running the tests of the watering plan",
      "wait end",
      "say The mint has water.",
    ],
    { labels: ["watering"], needs: ["Plant mint in a third bed"] },
  ),
  task(
    "Round what is paid to five cents",
    "",
    [
      ...works(3),
      "replace src/basket.js return sum; => return Math.round(sum * 20) / 20;",
      "say looking for other places that round",
      "wait later",
      "say It is rounded.",
    ],
    { labels: ["money"] },
  ),
  task(
    "Print a receipt with the tax",
    "",
    [
      "wait end",
      ...quick(
        "src/receipt.js",
        "export const receipt = ({ net, tax, gross }) => `${net} + ${tax} = ${gross}`;",
        1,
      ),
    ],
    { labels: ["shop", "money"], priority: "high", needs: ["Add tax to the total of a basket"] },
  ),
  task(
    "Heat the bench by the sun",
    "",
    [...works(2), "run node src/heater.js", "Error: no sun", ".", "fail the heater does not answer"],
    { labels: ["beds"] },
  ),
  task("Grow orchids on the bench", "", quick("src/orchids.js", "export const orchids = 4;"), {
    labels: ["beds"],
    needs: ["Heat the bench by the sun"],
  }),
  task("Check that there is no poison ivy", "", [...works(2), "say there is none."], {
    labels: ["beds"],
    priority: "low",
  }),
];

/** What waits on the board. */
export const todo = [
  task("Let customers keep a wish list", "", [], { labels: ["shop"], priority: "high" }),
  task("Send a letter when a plant is back in stock", "", [], {
    labels: ["shop"],
    needs: ["Let customers keep a wish list"],
  }),
  task("Show opening hours on every page", "", [], { labels: ["hours", "docs"] }),
  task("Measure the soil once an hour", "", [], { labels: ["watering"], priority: "critical" }),
  task("Draw moisture of the week as a chart", "", [], {
    labels: ["watering"],
    needs: ["Measure the soil once an hour"],
  }),
  task("Translate the shop to German", "", [], { labels: ["docs"], priority: "low" }),
];
