// The text of an HTTP/1.1 request, for the load generator's templates.

export interface RequestShape {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; it may contain COUNTER. */
  readonly body?: object;
}

export function requestText(shape: RequestShape): string {
  const body = shape.body === undefined ? "" : JSON.stringify(shape.body);
  const headers = {
    host: "127.0.0.1",
    ...shape.headers,
    ...(body === "" ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${shape.method} ${shape.path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}
