import com.google.gson.Gson;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.model.Refusal;

/** What the program does with OkHttp and Gson, the generator's first choice of libraries. */
final class Connection {
  /** The key says which app calls, the token who. */
  static ApiClient to(String url, String key, String token) {
    ApiClient client = new ApiClient().setBasePath(url);
    client.setApiKey(key);
    client.setBearerToken(token);
    return client;
  }

  static Refusal refusalOf(ApiException exception) {
    return new Gson().fromJson(exception.getResponseBody(), Refusal.class);
  }
}
