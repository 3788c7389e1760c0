// Keeps this tab in step with the server while there is a connection, and says how that stands.

import { answered, api, Refused } from "@/api/client";
import { keys, queryClient } from "@/api/queries";
import { fetchStale, forgetPauses } from "./batches";
import { followClock } from "./clock";
import type { FromStream, LiveEvent } from "./events";
import { load, wantNothing } from "./load";
import { afterHearing, beginAnew, heard } from "./order";
import { openStream } from "./stream";
import { isOtherVersion } from "./version";
import { useConnection } from "./world";

/** Begins to listen; the board is fetched whenever the connection opens. */
export function goLive(): () => void {
  const stops = [afterHearing(fetchStale), followClock(), openStream(told)];
  document.addEventListener("visibilitychange", fetchStale);
  return () => {
    document.removeEventListener("visibilitychange", fetchStale);
    for (const stop of stops) stop();
  };
}

function told(message: FromStream) {
  switch (message.kind) {
    case "event":
      heard({ name: message.name, data: JSON.parse(message.data) } as LiveEvent);
      break;
    case "lost":
      useConnection.setState({ state: "lost" });
      if (message.isRefused) void askWhy();
      break;
    case "reset":
      wantNothing();
      beginAnew();
      break;
    case "open":
      // What was refused before the browser signed in, or by a server that is gone, is asked for again below.
      useConnection.setState({ state: "live", error: null });
      void isOtherVersion().then((is) => useConnection.setState({ isOtherVersion: is }));
      void queryClient.invalidateQueries({ queryKey: keys.projects });
      forgetPauses();
      void load();
  }
}

/** A stream that is refused does not say why; any other answer does. */
async function askWhy() {
  try {
    await answered(api.GET("/api/projects"));
  } catch (error) {
    if (error instanceof Refused && error.status === 401) useConnection.setState({ error });
  }
}
