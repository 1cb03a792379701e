import { describeEndpointUrls } from "../../support/endpoint-urls.ts";

// Runs with the URL parser that production uses.
describeEndpointUrls();
