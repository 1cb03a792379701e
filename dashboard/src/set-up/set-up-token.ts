/** The token of a set-up link: the part after `#`, which browsers send to no server. Loaded first, so that it is removed from the address at once. */
export const setUpToken = location.pathname === "/setup" && location.hash.length > 1 ? location.hash.slice(1) : null;

if (setUpToken !== null) history.replaceState(history.state, "", location.pathname);
