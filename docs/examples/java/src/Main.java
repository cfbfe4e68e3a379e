import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.AccountsApi;
import org.openapitools.client.api.MarketDataApi;
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.model.*;

/** Signs in, reads quotes and an account, and places an order: with a client that openapi-generator makes for Java. */
public final class Main {
  private static final List<String> SYMBOLS = List.of("AAPL", "MSFT");

  public static void main(String[] arguments) throws Exception {
    try {
      run();
      System.exit(0);
    } catch (ApiException exception) {
      // `code` is for programs, `detail` for people.
      System.err.println(exception.getCode() + " " + exception.getResponseBody());
      throw exception;
    }
  }

  private static void run() throws Exception {
    ApiClient client = Connection.to(env("GATEWAY_URL"), env("API_KEY"), signIn());
    System.out.println("sign-in ok");
    readQuotes(new MarketDataApi(client));
    String accountId = readAccount(new AccountsApi(client));
    placeOrder(new OrdersApi(client), accountId);
    readBars(new MarketDataApi(client));
    readWhatIsNotGranted(new AccountsApi(client));
  }

  /** In an app its library for OpenID Connect does this, with the user in front of it. */
  private static String signIn() throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(env("ISSUER_URL") + "/token"))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("accept", "text/plain")
        .POST(HttpRequest.BodyPublishers.ofString("grant_type=password&username=ada"))
        .build();
    HttpResponse<String> response =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new IllegalStateException(response.body());
    return response.body();
  }

  private static void readQuotes(MarketDataApi api) throws Exception {
    ApiResponse<List<GetStockSnapshotsItem>> first =
        api.getStockSnapshotsWithHttpInfo(SYMBOLS, Category.US_STOCK, null, null, null, null);
    GetStockSnapshotsItem apple = first.getData().get(0);
    long pollAfter = Long.parseLong(header(first.getHeaders(), "x-poll-after"));
    System.out.printf("snapshots ok %s %s, ask again after %d s%n", apple.getSymbol(), apple.getPrice(), pollAfter);

    try {
      api.getStockSnapshots(SYMBOLS, Category.US_STOCK, null, null, null, header(first.getHeaders(), "etag"));
      throw new IllegalStateException("200 in place of 304: the quotes have changed");
    } catch (ApiException exception) {
      // The client takes it for a failure: what was read before is still right.
      if (exception.getCode() != 304) throw exception;
      System.out.println("not-modified ok");
    }
    // Nothing new is there before: an app waits as long as it is told.
    Thread.sleep(pollAfter * 1000);
    api.getStockSnapshots(SYMBOLS, Category.US_STOCK, null, null, null, null);
  }

  private static String readAccount(AccountsApi api) throws ApiException {
    List<ListAccountsItem> accounts = api.listAccounts(null, null);
    String labels = accounts.stream().map(ListAccountsItem::getAccountLabel).collect(Collectors.joining(", "));
    System.out.println("accounts ok " + labels);

    String accountId = accounts.get(0).getAccountId();
    GetAccountBalanceAnswer balance = api.getAccountBalance(accountId, null, null, null);
    System.out.printf("balance ok %s %s%n", balance.getTotalCashBalance(), balance.getTotalAssetCurrency());
    return accountId;
  }

  private static void placeOrder(OrdersApi api, String accountId) throws Exception {
    String clientOrderId = UUID.randomUUID().toString();
    PlaceOrderBodyNewOrder order = new PlaceOrderBodyNewOrder()
        .clientOrderId(clientOrderId)
        .comboType(PlaceOrderBodyNewOrder.ComboTypeEnum.NORMAL)
        .instrumentType(PlaceOrderBodyNewOrder.InstrumentTypeEnum.EQUITY)
        .entrustType(PlaceOrderBodyNewOrder.EntrustTypeEnum.QTY)
        .symbol("AAPL")
        .market(Market.US)
        .side(Side.BUY)
        .orderType(OrderType.LIMIT)
        .limitPrice("20.50")
        // A decimal is text from the user's input to the wire: no digit is lost.
        .quantity("1.50")
        .timeInForce(TimeInForce.GTC)
        .supportTradingSession(SupportTradingSession.CORE);
    try {
      api.placeOrder(new PlaceOrderBody().accountId(accountId).addNewOrdersItem(order), null);
    } catch (ApiException exception) {
      Refusal refusal = Connection.refusalOf(exception);
      if (!"outcome_unknown".equals(refusal.getCode())) throw exception;
      // The order may have been placed: it is read, and never sent again unless it is not there.
      System.out.println("The answer was lost. " + refusal.getFindOut());
      api.getOrder(accountId, clientOrderId, null, null);
    }
    System.out.println("order ok " + clientOrderId);

    GetOrderOrder shown = api.getOrder(accountId, clientOrderId, null, null).getOrders().get(0);
    if (new BigDecimal(shown.getTotalQuantity()).compareTo(new BigDecimal("1.50")) != 0)
      throw new IllegalStateException(shown.toString());
    System.out.printf("get-order ok %s, %s shares, %s%n",
        shown.getStatus(), shown.getTotalQuantity(), instant(shown.getPlaceTime()));
  }

  private static void readBars(MarketDataApi api) throws Exception {
    ListStockBarsBody daily = new ListStockBarsBody()
        .addSymbolsItem("AAPL")
        .category(Category.US_STOCK)
        .timespan(Timespan.D)
        .count(2);
    String days = api.listStockBars(daily, null).getResult().get(0).getResult().stream()
        .map(bar -> instant(bar.getTime()).toString().substring(0, 10) + " " + bar.getClose())
        .collect(Collectors.joining(", "));
    System.out.println("bars ok " + days);
  }

  private static void readWhatIsNotGranted(AccountsApi api) throws Exception {
    try {
      api.getAccountBalance("ANOTHER-USERS-ACCOUNT", null, null, null);
      throw new IllegalStateException("the balance of another user's account was shown");
    } catch (ApiException exception) {
      Refusal refusal = Connection.refusalOf(exception);
      System.out.printf("refusal ok %s: %s%n", refusal.getCode(), refusal.getDetail());
    }
  }

  /** A time as the upstream writes it: milliseconds, the same in digits, or ISO 8601 text with +0000. */
  private static Instant instant(Object time) {
    String text = time.toString();
    // Gson makes a Double of milliseconds.
    return text.contains("T")
        ? Instant.parse(text.replace("+0000", "Z"))
        : Instant.ofEpochMilli(new BigDecimal(text).longValue());
  }

  private static String header(Map<String, List<String>> headers, String name) {
    return headers.get(name).get(0);
  }

  private static String env(String name) {
    String value = System.getenv(name);
    if (value == null) throw new IllegalStateException(name + " is not set");
    return value;
  }
}
