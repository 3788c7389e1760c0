// What can be done with a transcript as a whole: wrap its lines, copy it, save it.

import { Copy, Download, WrapText } from "lucide-react";
import { counted } from "@/text/format";
import { Button } from "@/ui/Button";
import { toast } from "@/visible/toast";
import { copyText } from "./entry";
import type { Load } from "./reader";

/** The whole text, fetched in large pieces. */
export async function wholeText(load: Load, total: number): Promise<string> {
  const { signal } = new AbortController();
  const parts: string[] = [];
  for (let from = 0; from < total; ) {
    const page = await load(from, 5_000, signal);
    if (page.entries.length === 0) break;
    for (const line of page.entries) parts.push(copyText(line));
    from = page.from + page.entries.length;
  }
  return `${parts.join("\n")}\n`;
}

type Props = {
  load: Load;
  total: number;
  wraps: boolean;
  onWraps: (wraps: boolean) => void;
  fileName: string;
};

export function Tools({ load, total, wraps, onWraps, fileName }: Props) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await wholeText(load, total));
      toast(`Copied ${counted(total, "line")}`);
    } catch {
      toast.error("Could not copy the transcript");
    }
  };
  const save = async () => {
    try {
      const url = URL.createObjectURL(new Blob([await wholeText(load, total)], { type: "text/plain" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = fileName;
      link.click();
      URL.revokeObjectURL(url);
    } catch {
      toast.error("Could not save the transcript");
    }
  };
  return (
    <div className="flex items-center">
      <Button
        size="icon"
        look="ghost"
        aria-label="Wrap lines"
        title="Wrap lines"
        aria-pressed={wraps}
        onClick={() => onWraps(!wraps)}
      >
        <WrapText />
      </Button>
      <Button
        size="icon"
        look="ghost"
        aria-label="Copy transcript"
        title="Copy transcript"
        disabled={total === 0}
        onClick={() => void copy()}
      >
        <Copy />
      </Button>
      <Button
        size="icon"
        look="ghost"
        aria-label="Save transcript"
        title="Save transcript"
        disabled={total === 0}
        onClick={() => void save()}
      >
        <Download />
      </Button>
    </div>
  );
}
