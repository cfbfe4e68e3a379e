import com.fasterxml.jackson.core.JsonProcessingException;
import java.net.http.HttpRequest;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.JSON;
import org.openapitools.client.model.Refusal;

/** What the program does with the HTTP client of Java itself and Jackson: the generator's library `native`. */
final class Connection {
  /** The key says which app calls, the token who. */
  static ApiClient to(String url, String key, String token) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor((HttpRequest.Builder request) ->
        request.header("x-api-key", key).header("authorization", "Bearer " + token));
    return client;
  }

  static Refusal refusalOf(ApiException exception) throws JsonProcessingException {
    return JSON.getDefault().getMapper().readValue(exception.getResponseBody(), Refusal.class);
  }
}
