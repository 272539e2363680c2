import java.io.IOException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.mortbay.jetty.Request;
import org.mortbay.jetty.Server;
import org.mortbay.jetty.handler.AbstractHandler;
import org.mortbay.jetty.nio.SelectChannelConnector;
import org.mortbay.thread.QueuedThreadPool;

/** The pages of the shelf on Jetty 6: ServeJetty6 PORT BACKLOG THREADS. */
public final class ServeJetty6 extends AbstractHandler {
    @Override
    public void handle(
            String path, HttpServletRequest request, HttpServletResponse response, int dispatch)
            throws IOException {
        Pages page = Pages.find(path);
        response.setStatus(page.status);
        response.setContentType(page.type);
        response.setContentLength(page.body.length);
        response.getOutputStream().write(page.body);
        ((Request) request).setHandled(true);
    }

    public static void main(String[] arguments) throws Exception {
        Server server = new Server();
        server.setThreadPool(new QueuedThreadPool(Integer.parseInt(arguments[2])));
        SelectChannelConnector connector = new SelectChannelConnector();
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(arguments[0]));
        connector.setAcceptQueueSize(Integer.parseInt(arguments[1]));
        server.addConnector(connector);
        server.setHandler(new ServeJetty6());
        server.start();
        server.join();
    }
}
