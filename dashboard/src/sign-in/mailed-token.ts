/**
 * The token in an email's link. It is in the fragment, which browsers do not send to servers, and is removed from the address at
 * once.
 */
export const mailedToken = new URLSearchParams(location.hash.slice(1)).get("token");

if (mailedToken !== null) history.replaceState(history.state, "", location.pathname + location.search);
