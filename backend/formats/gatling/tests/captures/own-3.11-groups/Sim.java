import io.gatling.javaapi.core.*;
import io.gatling.javaapi.http.*;
import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import java.time.Duration;

public class Sim extends Simulation {
  {
    int users = Integer.getInteger("users"), secs = Integer.getInteger("secs");
    HttpProtocolBuilder p = http.baseUrl("http://127.0.0.1:18411").disableFollowRedirect();
    ScenarioBuilder s = scenario("web").exec(
        http("GET /").get("/"),
        group("shop").on(
            http("list").get("/list").check(bodyString().is("ok")),
            http("nowhere").get("http://127.0.0.1:18412/")),
        http("reset").get("/reset"),
        http("slow").get("/slow").requestTimeout(Duration.ofMillis(100)));
    setUp(s.injectOpen(constantUsersPerSec(users).during(Duration.ofSeconds(secs)))).protocols(p);
  }
}
