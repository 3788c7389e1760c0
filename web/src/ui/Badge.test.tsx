// States are told in words, not by colour.

import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { StateBadge } from "./Badge";

afterEach(cleanup);

test("a state is shown as a word", () => {
  render(<StateBadge word="timed_out" />);
  expect(screen.getByText("Timed out")).toBeTruthy();
});

test("a word that nobody knows shows itself", () => {
  render(<StateBadge word="resting" />);
  expect(screen.getByText("resting")).toBeTruthy();
});
