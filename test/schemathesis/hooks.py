"""What no schema can say of an order: its id is not that of another order of the same request."""

import schemathesis

LISTS = ("new_orders", "batch_orders", "modify_orders")


@schemathesis.hook
def before_call(context, case, kwargs):
    if not isinstance(case.body, dict):
        return
    for name in LISTS:
        orders = case.body.get(name)
        if isinstance(orders, list):
            give_own_ids(orders)


def give_own_ids(orders):
    """The first order of an id keeps it, so that an id that is wrong by itself stays in the request."""
    seen = set()
    for at, order in enumerate(orders):
        own = order.get("client_order_id") if isinstance(order, dict) else None
        if not isinstance(own, str):
            continue
        if own in seen:
            # One object may stand in the list more than once.
            orders[at] = {**order, "client_order_id": f"{own[:24]}-{at}"}
        seen.add(own)
