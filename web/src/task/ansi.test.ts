import { describe, expect, it } from "vitest";
import { plain, spans } from "./ansi";

/** Spans as `text{look}`, one after the other. */
function told(line: string): string {
  const look = (of: object | null) =>
    of
      ? `{${Object.entries(of)
          .map(([key, value]) => (value === true ? key : `${key}=${value}`))
          .join(" ")}}`
      : "";
  return spans(line)
    .map((span) => span.text + look(span.look))
    .join("|");
}

describe("colours of a terminal", () => {
  it.each([
    ["plain text", "plain text"],
    ["", ""],
    ["\u001b[31merror\u001b[0m: no", "error{fg=red}|: no"],
    ["\u001b[1;92mok\u001b[22m still green", "ok{bold fg=green}| still green{fg=green}"],
    ["\u001b[38;5;208morange\u001b[39m.", "orange{fg=#ff8700}|."],
    ["\u001b[38;5;1mred by number", "red by number{fg=red}"],
    ["\u001b[38;5;244mgrey", "grey{fg=#808080}"],
    ["\u001b[48;2;1;2;300mtrue", "true{bg=#0102ff}"],
    ["\u001b[38:2:10:20:30mcolons", "colons{fg=#0a141e}"],
    ["\u001b[7mreversed\u001b[27m not", "reversed{fg=black bg=white}| not"],
    ["\u001b[mreset without a number", "reset without a number"],
  ])("%j is %j", (line, expected) => {
    expect(told(line)).toBe(expected);
  });

  it("drops what moves the cursor, sets titles or is a link", () => {
    expect(
      told(
        "\u001b[2K\u001b[1Gdone\u001b]0;title\u0007 \u001b]8;;http://a.b\u001b\\here\u001b]8;;\u001b\\\u001b[?25h",
      ),
    ).toBe("done| |here");
  });

  it("keeps tabs and drops other control letters", () => {
    expect(plain("a\tb\u0007c\u001b[31md")).toBe("a\tbcd");
  });
});
