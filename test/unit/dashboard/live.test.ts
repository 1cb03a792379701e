// The console's live updates: what is read again after a message, and how a lost socket is replaced.
import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { PING_MS, pauseMs } from "../../../dashboard/src/api/line.ts";
import {
  type Following,
  followMerchant,
  GATHER_MS,
  isTouched,
  type Key,
  messageIn,
  POLL_MS,
} from "../../../dashboard/src/api/live.ts";

const OURS = "mer_1";
const of = (params: object) => ({ merchantId: OURS, params });

describe("a message", () => {
  test.each([
    [
      '{"type":"invoice","eventId":"evt_1","invoiceId":"inv_1","status":"PAID"}',
      { type: "invoice", invoiceId: "inv_1" },
    ],
    ['{"type":"unmatched","eventId":"evt_1","paymentId":null}', { type: "unmatched" }],
    ['{"type":"wallet","eventId":"evt_1","walletId":"wal_1"}', { type: "wallet" }],
    ['{"type":"endpoint","eventId":null,"webhookId":"whk_1"}', { type: "endpoint" }],
    ['{"type":"reread","eventId":null}', { type: "reread" }],
    ['{"type":"something new","eventId":"evt_1"}', { type: "reread" }],
  ])("%s is read as %j", (text, news) => {
    const eventId = text.includes("evt_1") ? "evt_1" : undefined;
    expect(messageIn(text)).toEqual({ news, eventId });
  });

  test.each([
    ["listInvoices", { merchantId: OURS, query: {} }, true],
    ["getTotals", { merchantId: OURS, query: {} }, true],
    ["getAttention", { merchantId: OURS }, true],
    ["getInvoice", of({ invoiceId: "inv_1" }), true],
    ["getInvoice", of({ invoiceId: "inv_2" }), false],
    ["listWallets", { merchantId: OURS }, false],
    ["listInvoices", { merchantId: "mer_2" }, false],
    ["getMe", {}, false],
  ] as const)("about an invoice concerns %s with %j: %s", (operation, input, wanted) => {
    expect(isTouched({ type: "invoice", invoiceId: "inv_1" }, OURS, [operation, input])).toBe(wanted);
  });

  it("about everything concerns all data of its merchant, but no data of another merchant or of the user", () => {
    const touched = (input: object) => isTouched({ type: "reread" }, OURS, ["listProducts", input]);
    expect([touched({ merchantId: OURS }), touched({ merchantId: "mer_2" }), touched({})]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

it("a lost socket is reopened after a second, and later at longer intervals, up to 75 seconds", () => {
  expect([0, 1, 2, 3].map((failures) => pauseMs(failures, 0.5))).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect([pauseMs(30, 0), pauseMs(30, 0.999_999)].map(Math.round)).toEqual([45_000, 75_000]);
});

/** The service's end of a socket. */
class Socket extends EventTarget {
  readyState: number = WebSocket.CONNECTING;
  readonly path: string;
  readonly heard: string[] = [];

  constructor(path: string) {
    super();
    this.path = path;
  }
  send(text: string): void {
    this.heard.push(text);
  }
  open(): void {
    this.readyState = WebSocket.OPEN;
    this.dispatchEvent(new Event("open"));
  }
  say(text: string): void {
    this.dispatchEvent(new MessageEvent("message", { data: text }));
  }
  close(): void {
    this.readyState = WebSocket.CLOSED;
    this.dispatchEvent(new Event("close"));
  }
}

const SHOWN: readonly Key[] = [
  ["listInvoices", { merchantId: OURS }],
  ["listWallets", { merchantId: OURS }],
  ["getMe", {}],
];

describe("following a merchant", () => {
  let sockets: Socket[] = [];
  let readAgain: unknown[] = [];
  let isReading = false;
  let isSeen = true;
  let ageMs = 0;
  let following: Following;

  beforeEach(() => {
    vi.useFakeTimers();
    [sockets, readAgain, isReading, isSeen, ageMs] = [[], [], false, true, 41.3];
    following = followMerchant({
      merchantId: OURS,
      isSeen: () => isSeen,
      pageAgeMs: () => ageMs,
      reads: {
        invalidate: (isTouched) => void readAgain.push(...SHOWN.filter(isTouched).map(([operation]) => operation)),
        isReadingFirst: () => isReading,
      },
      connect: (path) => {
        const socket = new Socket(path);
        sockets.push(socket);
        return socket as unknown as WebSocket;
      },
    });
  });
  afterEach(() => {
    following.end();
    vi.useRealTimers();
  });

  const last = () => sockets.at(-1) as Socket;
  const paid = '{"type":"invoice","eventId":"evt_7","invoiceId":"inv_1"}';

  /** The reads that are repeated within the given time. */
  const readWithin = (ms: number): readonly unknown[] => {
    readAgain = [];
    vi.advanceTimersByTime(ms);
    return readAgain;
  };

  it("opens one socket, and rereads only the data that a message concerns, only once for messages that arrive at the same time", () => {
    expect(sockets.map(({ path }) => path)).toEqual(["/api/v1/merchants/merchant/mer_1/live?readWithinMs=42"]);
    last().open();
    last().say(paid);
    last().say(paid);
    expect(readWithin(GATHER_MS)).toEqual(["listInvoices"]);
    expect(readWithin(POLL_MS)).toEqual([]);
  });

  it("continues after the last event when a lost socket is reopened, and reopens it at once when the network is back", () => {
    last().open();
    last().say(paid);
    last().close();
    expect(sockets.length).toBe(1);
    vi.advanceTimersByTime(1_500);
    expect(sockets.map(({ path }) => path.split("?")[1])).toEqual(["readWithinMs=42", "after=evt_7"]);
    last().close();
    following.online();
    expect(sockets.length).toBe(3);
    following.online();
    expect(sockets.length).toBe(3);
  });

  it("tells the server the age of the page until the first message arrives, unless the page is older than ten minutes", () => {
    last().close();
    ageMs = 600_000;
    vi.advanceTimersByTime(1_500);
    last().close();
    ageMs = 600_000.1;
    vi.advanceTimersByTime(3_000);
    expect(sockets.map(({ path }) => path.split("?")[1])).toEqual([
      "readWithinMs=42",
      "readWithinMs=600000",
      undefined,
    ]);
  });

  it("rereads all the merchant's data at intervals while there is no socket, and stops once there is one", () => {
    last().close();
    expect(readWithin(POLL_MS + GATHER_MS)).toEqual(["listInvoices", "listWallets"]);
    last().open();
    expect(readWithin(POLL_MS)).toEqual([]);
  });

  it("treats a socket that does not answer a ping as lost", () => {
    last().open();
    vi.advanceTimersByTime(PING_MS);
    expect(last().heard).toEqual(["ping"]);
    last().say("pong");
    vi.advanceTimersByTime(PING_MS);
    expect([last().heard.length, sockets.length]).toEqual([2, 1]);
    vi.advanceTimersByTime(PING_MS + 1_500);
    expect(sockets.length).toBe(2);
  });

  it("repeats a read only once the first read has ended and the page is visible", () => {
    last().open();
    isReading = true;
    last().say(paid);
    expect(readWithin(GATHER_MS * 3)).toEqual([]);
    [isReading, isSeen] = [false, false];
    expect(readWithin(GATHER_MS * 3)).toEqual([]);
    isSeen = true;
    readAgain = [];
    following.seen();
    expect(readAgain).toEqual(["listInvoices"]);
  });

  it("repeats all reads if too many messages arrived while the page was hidden", () => {
    last().open();
    isSeen = false;
    for (let n = 0; n < 150; n++) last().say(paid);
    isSeen = true;
    expect(readWithin(GATHER_MS)).toEqual(["listInvoices", "listWallets"]);
  });

  it("stops its timers and closes its socket when it ends, and closes a socket that opens later", () => {
    following.end();
    expect(vi.getTimerCount()).toBe(0);
    last().open();
    expect(last().readyState).toBe(WebSocket.CLOSED);
    expect(sockets.length).toBe(1);
  });
});
