import { describe, inject } from "vitest";
import { describeReceiverClient } from "../../support/receiver-suite.ts";

describe("a POST to a receiver, from workerd", () => describeReceiverClient(() => inject("receiverOrigin")));
