// A WebSocket that is reopened whenever it is lost.

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A "ping" must be answered within this time, or the socket counts as lost: a dead connection gives no other sign. */
export const PING_MS = 30_000;

/** The pause before the next attempt. It doubles with each failure, and has jitter because a restart of the service disconnects all clients. */
export function pauseMs(failures: number, random: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.75 + random / 2);
}

interface Options {
  /** Opens a socket. Called for each attempt. */
  readonly connect: () => WebSocket;
  readonly onText: (text: string) => void;
}

interface Line {
  isOpen(): boolean;
  /** Reconnects at once, without the pause after a failure. */
  join(): void;
  /** Closes the connection permanently. */
  close(): void;
}

export function lineTo({ connect, onText }: Options): Line {
  let socket: WebSocket | undefined;
  let failures = 0;
  let isAnswered = true;
  let isOver = false;
  let retry: ReturnType<typeof setTimeout> | undefined;

  const join = () => {
    clearTimeout(retry);
    if (isOver || socket !== undefined) return;
    const joined = connect();
    socket = joined;
    isAnswered = true;
    joined.addEventListener("open", () => {
      failures = 0;
      if (isOver) joined.close();
    });
    joined.addEventListener("message", ({ data }) => {
      isAnswered = true;
      if (data !== "pong" && !isOver) onText(String(data));
    });
    joined.addEventListener("close", () => lost(joined));
  };

  const lost = (which: WebSocket) => {
    if (socket !== which) return;
    socket = undefined;
    if (!isOver) retry = setTimeout(join, pauseMs(failures++, Math.random()));
  };

  const ping = () => {
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (isAnswered) {
      isAnswered = false;
      socket.send("ping");
      return;
    }
    // The closing handshake with a dead peer takes minutes, so it is not awaited.
    const dead = socket;
    lost(dead);
    dead.close();
  };

  const pings = setInterval(ping, PING_MS);
  join();
  return {
    isOpen: () => socket?.readyState === WebSocket.OPEN,
    join,
    close: () => {
      isOver = true;
      clearInterval(pings);
      clearTimeout(retry);
      // Browsers log an error if a socket is closed before it was open.
      if (socket?.readyState === WebSocket.OPEN) socket.close();
    },
  };
}
