// Whether this page was built for the server that it talks to.

import { pass, shown } from "@/api/pass";

/** The hash of the document that this page was built with. */
declare const __DOCUMENT_HASH__: string;

/** Whether a tag of the server's document names another one; a server that says nothing is taken as it is. */
export function isOther(tag: string | null, own: string): boolean {
  const named = tag?.replace(/^W\//, "").replaceAll('"', "");
  return named !== undefined && named !== "" && named !== own;
}

/** Asks the server for the tag of its document. */
export async function isOtherVersion(): Promise<boolean> {
  try {
    const answer = await fetch("/api/openapi.json", {
      method: "HEAD",
      cache: "no-store",
      headers: shown(pass()),
    });
    return answer.ok && isOther(answer.headers.get("etag"), __DOCUMENT_HASH__);
  } catch {
    return false;
  }
}
