import { afterEach, expect, it, vi } from "vitest";
import { notify, useLeave } from "./notify";

afterEach(() => vi.unstubAllGlobals());

it("hidden characters are marked in notices outside the page", () => {
  const bodies: (string | undefined)[] = [];
  class Told {
    constructor(_: string, options?: NotificationOptions) {
      bodies.push(options?.body);
    }
  }
  vi.stubGlobal("Notification", Told);
  vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  useLeave.setState({ leave: "granted" });
  notify("Task pay \u202elive failed", "/");
  expect(bodies).toEqual(["Task pay ⟨U+202E⟩live failed"]);
});
