// Windows give the focus back.

import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test } from "vitest";
import { Dialog } from "./Dialog";

function Page() {
  const [open, setOpen] = useState<"first" | "second" | null>(null);
  return (
    <main id="page" tabIndex={-1}>
      <button type="button" onClick={() => setOpen("first")}>
        Open
      </button>
      <Dialog open={open === "first"} onOpenChange={() => setOpen(null)} title="First">
        <button type="button" onClick={() => setOpen("second")}>
          Next
        </button>
      </Dialog>
      <Dialog open={open === "second"} onOpenChange={() => setOpen(null)} title="Second">
        Text
      </Dialog>
    </main>
  );
}

afterEach(cleanup);

function begin() {
  render(<Page />);
  const opener = screen.getByRole("button", { name: "Open" });
  act(() => opener.focus());
  fireEvent.click(opener);
  return opener;
}

const close = () => fireEvent.click(screen.getByRole("button", { name: "Close" }));

test("what opened a window has the focus again when it is closed", async () => {
  const opener = begin();
  await waitFor(() => expect(document.activeElement?.closest('[role="dialog"]')).toBeTruthy());
  close();
  await waitFor(() => expect(document.activeElement).toBe(opener));
});

test("a window that another one opened gives it to what was there before both", async () => {
  const opener = begin();
  fireEvent.click(screen.getByRole("button", { name: "Next" }));
  await waitFor(() => expect(screen.queryByText("First")).toBeNull());
  close();
  await waitFor(() => expect(document.activeElement).toBe(opener));
});

test("where the opener is gone the page gets it", async () => {
  const opener = begin();
  opener.remove();
  close();
  await waitFor(() => expect(document.activeElement?.id).toBe("page"));
});
