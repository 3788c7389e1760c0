// Hidden characters are seen, and writing that needs them stays readable.

import { cleanup, render, screen } from "@testing-library/react";
import { DropdownMenu } from "radix-ui";
import { afterEach, expect, test } from "vitest";
import { Ansi } from "@/task/Ansi";
import { Dialog } from "@/ui/Dialog";
import { MenuItem, MenuLabel } from "@/ui/Menu";
import cases from "./cases.json";
import { visible } from "./visible";

afterEach(cleanup);

test("hidden characters are marked, here as in the terminal", () => {
  for (const [text, expected] of cases.marked as [string, string][]) expect(visible(text)).toBe(expected);
  expect(visible("a\u001b[2J\rb\u009b")).toBe("a⟨U+001B⟩[2J⟨U+000D⟩b⟨U+009B⟩");
});

test("emoji, other scripts, tabs and lines stay as they are", () => {
  for (const text of [...cases.kept, "a\tb\r\nc\n"]) expect(visible(text)).toBe(text);
});

test("titles and menus of libraries show it too, and their labels", () => {
  const text = "pay \u202elive";
  render(
    <Dialog open onOpenChange={() => undefined} title={text}>
      <DropdownMenu.Root open modal={false}>
        <DropdownMenu.Trigger aria-label={text} />
        <DropdownMenu.Content>
          <MenuLabel>{text}</MenuLabel>
          <MenuItem>
            {text} {1}
          </MenuItem>
        </DropdownMenu.Content>
      </DropdownMenu.Root>
    </Dialog>,
  );
  const shown = "pay ⟨U+202E⟩live";
  expect(screen.getByRole("dialog", { hidden: true }).querySelector("h2")?.textContent).toBe(shown);
  expect(screen.getByRole("menuitem", { hidden: true }).textContent).toBe(`${shown} 1`);
  expect(document.body.textContent).not.toContain("\u202e");
  expect(document.querySelector("button[aria-label^=pay]")?.getAttribute("aria-label")).toBe(shown);
});

test("whatever a page shows goes through it, and fields keep what was typed", () => {
  const text = "pay \u202elive";
  const { container } = render(
    <section title={text}>
      <h1>{text}</h1>
      <p>
        {1} {text}
      </p>
      {/* biome-ignore lint/complexity/noUselessFragments: a fragment is what is tested */}
      <>{text}</>
      <Ansi text={text} />
      <textarea defaultValue={text} />
      <input defaultValue={text} />
      <select>
        <option>{text}</option>
      </select>
    </section>,
  );
  expect(screen.getAllByText("⟨U+202E⟩", { selector: ".hidden-character" })).toHaveLength(4);
  expect(container.querySelector("option")?.textContent).toBe("pay ⟨U+202E⟩live");
  expect(container.querySelector("section")?.title).toBe("pay ⟨U+202E⟩live");
  expect([container.querySelector("textarea")?.value, container.querySelector("input")?.value]).toEqual([
    text,
    text,
  ]);
});
