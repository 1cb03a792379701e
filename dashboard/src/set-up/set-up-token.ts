/** A set-up link's token: the part after `#`, which browsers do not send. Loaded first, so that the token is removed from the address at once. */
export const setUpToken = location.pathname === "/setup" && location.hash.length > 1 ? location.hash.slice(1) : null;

if (setUpToken !== null) history.replaceState(history.state, "", location.pathname);
