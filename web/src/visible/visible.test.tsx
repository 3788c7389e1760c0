// Hidden characters are seen, and writing that needs them stays readable.

import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Ansi } from "@/task/Ansi";
import { visible } from "./visible";

afterEach(cleanup);

test("what turns text around or has no width is marked", () => {
  expect(visible("pay \u202elive\u202c")).toBe("pay ⟨U+202E⟩live⟨U+202C⟩");
  expect(visible("a\u200bb\u2066c\u200ed\u061ce\ufefff\u2060g")).toBe("a⟨U+200B⟩b⟨U+2066⟩c⟨U+200E⟩d⟨U+061C⟩e⟨U+FEFF⟩f⟨U+2060⟩g");
  expect(visible("x\u{e0041}\u{e007f}")).toBe("x⟨U+E0041⟩⟨U+E007F⟩");
  expect(visible("a\u001b[2J\rb\u009b")).toBe("a⟨U+001B⟩[2J⟨U+000D⟩b⟨U+009B⟩");
  expect(visible("s\u200dudo \u200c")).toBe("s⟨U+200D⟩udo ⟨U+200C⟩");
});

test("emoji, other scripts, tabs and lines stay as they are", () => {
  for (const text of ["👨‍👩‍👧 ❤️‍🔥", "שלום עולם", "می‌خواهم", "क्‍ष", "a\tb\r\nc\n", ""]) expect(visible(text)).toBe(text);
});

test("whatever a page shows goes through it, and fields keep what was typed", () => {
  const text = "pay \u202elive";
  const { container } = render(
    <section title={text}>
      <h1>{text}</h1>
      <p>
        {1} {text}
      </p>
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
  expect([container.querySelector("textarea")?.value, container.querySelector("input")?.value]).toEqual([text, text]);
});
