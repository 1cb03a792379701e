import { Tooltip } from "@mantine/core";
import { useFormats } from "./reader.tsx";

interface Props {
  readonly value: string;
  /** Where moments of one minute are told apart. */
  readonly hasSeconds?: boolean;
}

/** A moment, with its seconds and time zone on hover. */
export function Time({ value, hasSeconds = false }: Props) {
  const { dateTime, dateTimeWithSeconds, exactTime } = useFormats();
  return (
    <Tooltip label={exactTime(value)}>
      <time dateTime={value} className="numbers">
        {hasSeconds ? dateTimeWithSeconds(value) : dateTime(value)}
      </time>
    </Tooltip>
  );
}
