import { Tooltip } from "@mantine/core";
import { useFormats } from "./reader.tsx";

interface Props {
  readonly value: string;
  /** Whether to show seconds, for lists with several times in the same minute. */
  readonly hasSeconds?: boolean;
}

/** Shows a time. Its tooltip also shows the seconds and the time zone. */
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
