// A WebSocket that reconnects after growing pauses, and closes a silent connection. Its only message is "changed".

const PING_EVERY_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

interface Line {
  isOpen(): boolean;
  /** Connects or reconnects; does nothing if the connection is open or opening, the page is hidden, or there is no path. */
  open(): void;
  close(): void;
}

interface LineEnd {
  /** Path of the socket on our origin; undefined if there is none. */
  readonly path: () => string | undefined;
  readonly onOpen: () => void;
  readonly onNews: () => void;
  readonly onLoss: () => void;
}

export function lineTo(of: LineEnd): Line {
  let socket: WebSocket | undefined;
  let isOpen = false;
  let isAnswered = true;
  let losses = 0;
  let pings = 0;
  let retry = 0;

  const hangUp = () => {
    clearTimeout(retry);
    clearInterval(pings);
    const old = socket;
    socket = undefined;
    isOpen = false;
    // Late messages from the old socket have no effect, because each listener checks whether its socket is the current one.
    old?.close();
  };

  const lose = () => {
    hangUp();
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** losses);
    losses++;
    // When a server is lost, many pages lose their sockets at once, and must not all reconnect at once.
    retry = setTimeout(open, pauseMs * (0.5 + Math.random() / 2));
    of.onLoss();
  };

  const open = () => {
    clearTimeout(retry);
    const path = of.path();
    if (socket !== undefined || path === undefined || document.hidden) return;
    const own = new WebSocket(new URL(path, location.href.replace(/^http/, "ws")));
    socket = own;
    isAnswered = true;
    pings = setInterval(() => {
      if (!isAnswered) return lose();
      isAnswered = false;
      if (isOpen) own.send("ping");
    }, PING_EVERY_MS);
    own.onopen = () => {
      if (socket !== own) return;
      isOpen = true;
      of.onOpen();
    };
    own.onmessage = ({ data }) => {
      if (socket !== own) return;
      isAnswered = true;
      losses = 0;
      if (data !== "pong") of.onNews();
    };
    own.onclose = () => {
      if (socket === own) lose();
    };
  };

  return { isOpen: () => isOpen, open, close: hangUp };
}
