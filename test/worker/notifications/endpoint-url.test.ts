import { describeEndpointUrls } from "../../support/endpoint-urls.ts";

// The parser that production has.
describeEndpointUrls();
