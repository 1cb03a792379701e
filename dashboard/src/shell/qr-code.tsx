import { qrPath } from "../../../src/checkout/pay/qr.ts";

interface Props {
  readonly text: string;
  /** The accessible name, for screen readers. */
  readonly label: string;
  readonly size?: number;
}

/** Dark on light in both schemes, with a quiet zone of four modules on each side: scanners read nothing else reliably. */
export function QrCode({ text, label, size = 190 }: Props) {
  const { size: modules, path } = qrPath(text);
  const side = modules + 8;
  return (
    <svg
      className="qr"
      role="img"
      aria-label={label}
      width={size}
      height={size}
      viewBox={`-4 -4 ${side} ${side}`}
      shapeRendering="crispEdges"
    >
      <path d={path} stroke="#000" />
    </svg>
  );
}
