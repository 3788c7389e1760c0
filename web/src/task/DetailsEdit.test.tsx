// Editing begins and ends at the same button.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { task } from "@/live/samples";
import { Description } from "./DetailsEdit";

vi.mock("@tanstack/react-router", () => ({ useRouter: () => ({ history: { push: () => undefined } }) }));

afterEach(cleanup);

test("the form has the focus while it is there, and the button that opened it has it then", () => {
  render(<Description task={task("1")} />);
  fireEvent.click(screen.getByRole("button", { name: "Edit" }));
  expect(document.activeElement?.tagName).toBe("INPUT");
  fireEvent.click(screen.getByRole("button", { name: "Discard" }));
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Edit" }));
});
