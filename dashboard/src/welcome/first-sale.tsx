import { SegmentedControl, Stack } from "@mantine/core";
import { useState } from "react";
import type { Merchant } from "../api/operations.ts";
import { FirstCode } from "./first-code.tsx";
import { FirstProduct } from "./first-product.tsx";

interface Props {
  readonly merchant: Merchant;
  readonly onDone: () => void;
  /** By default the same as `onDone`. */
  readonly onSkip?: () => void;
}

/** Offers a product with its own page, or three lines of code, depending on the user's permissions. */
export function FirstSale({ merchant, onDone, onSkip = onDone }: Props) {
  const [isCode, setIsCode] = useState(!merchant.permissions.includes("product:create"));
  const isChoice = merchant.permissions.includes("product:create") && merchant.permissions.includes("api_key:create");
  return (
    <Stack>
      {isChoice && (
        <SegmentedControl
          aria-label="How you sell"
          data={[
            { value: "product", label: "A page to share" },
            { value: "code", label: "Three lines of code" },
          ]}
          value={isCode ? "code" : "product"}
          transitionDuration={0}
          onChange={(value) => setIsCode(value === "code")}
        />
      )}
      {isCode ? (
        <FirstCode merchant={merchant} onDone={onDone} onSkip={onSkip} />
      ) : (
        <FirstProduct merchant={merchant} onDone={onDone} onSkip={onSkip} />
      )}
    </Stack>
  );
}
