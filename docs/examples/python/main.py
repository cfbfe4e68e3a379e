"""Signs in, reads quotes and an account, and places an order: with a client of openapi-python-client."""

import os
import sys
import time
import uuid
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx
from countersign_client import AuthenticatedClient
from countersign_client.api.accounts import get_account_balance, list_accounts
from countersign_client.api.market_data import get_stock_snapshots, list_stock_bars
from countersign_client.api.orders import get_order, place_order
from countersign_client.models import (
    Category,
    GetOrderAnswer,
    ListStockBarsBody,
    Market,
    OrderType,
    PlaceOrderBody,
    PlaceOrderBodyNewOrder,
    PlaceOrderBodyNewOrderComboType,
    PlaceOrderBodyNewOrderEntrustType,
    PlaceOrderBodyNewOrderInstrumentType,
    Refusal,
    Side,
    SupportTradingSession,
    TimeInForce,
    Timespan,
)
from countersign_client.types import UNSET, Response, Unset

T = TypeVar("T")


def sign_in() -> str:
    """In an app its library for OpenID Connect does this, with the user in front of it."""
    form = {"grant_type": "password", "username": "ada"}
    answer = httpx.post(f"{os.environ['ISSUER_URL']}/token", data=form, timeout=30)
    return str(answer.raise_for_status().json()["access_token"])


def must(answer: Response[T | Refusal]) -> T:
    """`code` is for programs, `detail` for people."""
    if isinstance(answer.parsed, Refusal):
        sys.exit(f"{answer.parsed.code}: {answer.parsed.detail}")
    if answer.parsed is None:
        sys.exit(f"status {answer.status_code}")
    return answer.parsed


def instant(moment: Any) -> datetime:
    """A time as the upstream writes it: milliseconds, the same in digits, or ISO 8601 text."""
    if isinstance(moment, int) or str(moment).isdigit():
        return datetime.fromtimestamp(int(moment) / 1000, UTC)
    return datetime.fromisoformat(str(moment))


token = sign_in()
print("sign-in ok")
# The key says which app calls, the token who.
client = AuthenticatedClient(
    base_url=os.environ["GATEWAY_URL"],
    headers={"x-api-key": os.environ["API_KEY"]},
    token=token,
    # httpx gives up after 5 s, sooner than the gateway.
    timeout=httpx.Timeout(30),
)


def quotes(if_none_match: str | Unset = UNSET) -> Response[Any]:
    return get_stock_snapshots.sync_detailed(
        client=client, symbols=["AAPL", "MSFT"], category=Category.US_STOCK, if_none_match=if_none_match
    )


first = quotes()
[apple, *_] = must(first)
poll_after = int(first.headers["x-poll-after"])
print(f"snapshots ok {apple.symbol} {apple.price}, ask again after {poll_after} s")

again = quotes(if_none_match=first.headers["etag"])
if again.status_code != 304:
    sys.exit(f"{again.status_code} in place of 304: the quotes have changed")
print("not-modified ok")
# Nothing new is there before: an app waits as long as it is told.
time.sleep(poll_after)
must(quotes())

accounts = must(list_accounts.sync_detailed(client=client))
if not accounts:
    sys.exit("no account is granted to this user")
account_id = accounts[0].account_id
print("accounts ok", ", ".join(str(account.account_label) for account in accounts))

balance = must(get_account_balance.sync_detailed(client=client, account_id=account_id))
print(f"balance ok {balance.total_cash_balance} {balance.total_asset_currency}")

client_order_id = str(uuid.uuid4())


def read_order() -> GetOrderAnswer:
    return must(get_order.sync_detailed(client=client, account_id=account_id, client_order_id=client_order_id))


# A decimal is text from the user's input to the wire: no digit is lost.
order = PlaceOrderBodyNewOrder(
    client_order_id=client_order_id,
    combo_type=PlaceOrderBodyNewOrderComboType.NORMAL,
    instrument_type=PlaceOrderBodyNewOrderInstrumentType.EQUITY,
    entrust_type=PlaceOrderBodyNewOrderEntrustType.QTY,
    symbol="AAPL",
    market=Market.US,
    side=Side.BUY,
    order_type=OrderType.LIMIT,
    limit_price="20.50",
    quantity="1.50",
    time_in_force=TimeInForce.GTC,
    support_trading_session=SupportTradingSession.CORE,
)
placed = place_order.sync_detailed(client=client, body=PlaceOrderBody(account_id=account_id, new_orders=[order]))
if isinstance(placed.parsed, Refusal) and placed.parsed.code == "outcome_unknown":
    # The order may have been placed: it is read, and never sent again unless it is not there.
    print("The answer was lost.", placed.parsed.find_out)
    read_order()
else:
    must(placed)
print("order ok", client_order_id)

shown = read_order().orders[0]
print(f"get-order ok {shown.status}, {shown.total_quantity} shares, {instant(shown.place_time)}")

bars_body = ListStockBarsBody(symbols=["AAPL"], category=Category.US_STOCK, timespan=Timespan.D, count=2)
bars = must(list_stock_bars.sync_detailed(client=client, body=bars_body)).result[0].result
print("bars ok", ", ".join(f"{instant(bar.time).date()} {bar.close}" for bar in bars))

# Another user's account, or one that there is not: the answer is the same.
wrong = get_account_balance.sync_detailed(client=client, account_id="NOT-OF-THIS-USER")
if not isinstance(wrong.parsed, Refusal):
    sys.exit("the balance of another account was shown")
print(f"refusal ok {wrong.parsed.code}: {wrong.parsed.detail}")
