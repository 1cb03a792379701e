// One keep-alive HTTP/1.1 connection with at most one request in progress. A raw socket without an HTTP client, so that the generator uses little
// CPU compared with the measured server (bench/run.ts prints its maximum rate against an echo).
import { connect, type Socket } from "node:net";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

const HEAD_END = "\r\n\r\n";
const CHUNKS_END = "0\r\n\r\n";

export class Connection {
  readonly #socket: Socket;
  #received: Buffer | undefined;
  #settle: ((answer: Answer | Error) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (error) => this.#end(error));
    socket.on("close", () => this.#end(new Error("the connection was closed")));
  }

  static open(host: string, port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port }, () => resolve(new Connection(socket)));
      socket.once("error", reject);
    });
  }

  /** Sends a whole request; `settle` is called once, as soon as the answer is complete. */
  send(request: Buffer, settle: (answer: Answer | Error) => void): void {
    this.#settle = settle;
    this.#received = undefined;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const received = this.#received === undefined ? chunk : Buffer.concat([this.#received, chunk]);
    this.#received = received;
    const answer = parseAnswer(received);
    if (answer !== undefined) this.#end(answer);
  }

  #end(outcome: Answer | Error): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(outcome);
  }
}

/** A complete answer, or undefined while bytes are missing. A chunked body keeps its chunk lines: the patterns ignore them. */
export function parseAnswer(received: Buffer): Answer | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = received.toString("latin1", 0, headEnd).toLowerCase();
  const bodyStart = headEnd + HEAD_END.length;
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  if (length !== undefined) {
    const end = bodyStart + Number(length);
    return received.length < end ? undefined : { status, body: received.toString("utf8", bodyStart, end) };
  }
  if (!head.includes("transfer-encoding: chunked")) return { status, body: "" };
  const rest = received.toString("utf8", bodyStart);
  return rest.endsWith(CHUNKS_END) ? { status, body: rest } : undefined;
}
