// Pages for when there is nothing else to show.

import { Link } from "@tanstack/react-router";
import { CircleAlert, Compass, KeyRound, Unplug } from "lucide-react";
import { hintOf, inWords, Refused } from "@/api/client";
import { Button, buttonLook } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";

export function NotFound() {
  return (
    <EmptyState
      isPage
      icon={Compass}
      title="Page not found"
      action={
        <Link to="/" className={buttonLook()}>
          Back to the board
        </Link>
      }
    />
  );
}

export function ErrorPage({ error }: { error: unknown }) {
  return (
    <EmptyState
      isPage
      icon={CircleAlert}
      title="Could not show this page"
      action={<Button onClick={() => location.reload()}>Reload</Button>}
    >
      <p>{inWords(error)}</p>
    </EmptyState>
  );
}

/** What is shown in place of everything when the server says no. */
export function Outside({ error }: { error: unknown }) {
  const isLocked = error instanceof Refused && error.status === 401;
  if (isLocked) {
    return (
      <EmptyState isPage icon={KeyRound} title="Sign in">
        <p>
          Run <code className="font-mono">pleach serve</code> and open the link it prints. Each link works
          once.
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState
      isPage
      icon={Unplug}
      title="Could not reach the server"
      action={<Button onClick={() => location.reload()}>Try again</Button>}
    >
      <p>{inWords(error)}</p>
      <p className="mt-1 text-fg-3 empty:hidden">{hintOf(error)}</p>
    </EmptyState>
  );
}
