"""What no schema can say of an order: its id is not that of another order of the same request."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    orders = case.body.get("new_orders") if isinstance(case.body, dict) else None
    if not isinstance(orders, list):
        return
    seen = set()
    for at, order in enumerate(orders):
        own = order.get("client_order_id") if isinstance(order, dict) else None
        if not isinstance(own, str):
            continue
        if own in seen and usable(own):
            # One object may stand in the list more than once.
            orders[at] = {**order, "client_order_id": f"{own[:24]}-{at}"}
        seen.add(own)


def usable(own):
    """An id that is wrong by itself stays wrong."""
    return own.isascii() and own.isprintable() and 0 < len(own) <= 32
