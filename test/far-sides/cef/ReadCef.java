// Lines of CEF on standard input → for each, a line: `fault TEXT`, or the fields that ParCEFone found, each in Base64.
import com.fluenda.parcefone.event.CommonEvent;
import com.fluenda.parcefone.parser.CEFParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.validation.ConstraintViolation;
import javax.validation.Validation;
import javax.validation.Validator;

public class ReadCef {
  public static void main(String[] words) throws Exception {
    Validator validator = Validation.buildDefaultValidatorFactory().getValidator();
    CEFParser parser = new CEFParser(validator);
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      CommonEvent event = parser.parse(line, true);
      out.println(event == null ? "fault " + faultsOf(parser.parse(line, false), validator) : fieldsOf(event));
    }
    out.flush();
  }

  private static String faultsOf(CommonEvent event, Validator validator) {
    if (event == null) return "cannot be parsed";
    return validator.validate(event).stream()
        .map((ConstraintViolation<CommonEvent> fault) -> fault.getPropertyPath() + " " + fault.getMessage())
        .sorted()
        .collect(Collectors.joining("; "));
  }

  private static String fieldsOf(CommonEvent event) throws Exception {
    Map<String, Object> fields = new TreeMap<>(event.getHeader());
    fields.putAll(event.getExtension(true));
    return fields.entrySet().stream().map(each -> each.getKey() + "=" + encoded(each.getValue())).collect(Collectors.joining(" "));
  }

  private static String encoded(Object value) {
    Object plain = value instanceof java.util.Date ? ((java.util.Date) value).getTime() : value;
    return Base64.getEncoder().encodeToString(String.valueOf(plain).getBytes(StandardCharsets.UTF_8));
  }
}
