// Why something was not done, below what was asked for.

import { hintOf, inWords } from "@/api/client";

export function ErrorLine({ error }: { error: unknown }) {
  if (!error) return null;
  return (
    <p role="alert" className="text-sm text-failed">
      {inWords(error)} <span className="text-fg-2">{hintOf(error)}</span>
    </p>
  );
}
